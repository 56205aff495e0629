#pragma once
// What the kernel reads and writes, as the C compiler of this architecture lays it out: structures and requests of
// include/net/bluetooth/{bluetooth,l2cap,hci_sock}.h of Linux, which no package installs as headers of the kernel, and what Swift's
// Glibc module leaves out.
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

typedef struct {
  uint8_t b[6];
} __attribute__((packed)) bdaddr_t;

struct sockaddr_l2 {
  sa_family_t l2_family;
  uint16_t l2_psm;
  bdaddr_t l2_bdaddr;
  uint16_t l2_cid;
  uint8_t l2_bdaddr_type;
};

struct sockaddr_hci {
  sa_family_t hci_family;
  unsigned short hci_dev;
  unsigned short hci_channel;
};

struct hci_ufilter {
  uint32_t type_mask;
  uint32_t event_mask[2];
  uint16_t opcode;
};

struct hci_conn_info {
  uint16_t handle;
  bdaddr_t bdaddr;
  uint8_t type;
  uint8_t out;
  uint16_t state;
  uint32_t link_mode;
};

// In the kernel's, any number of elements follows here and in the list of devices.
struct hci_conn_info_req {
  bdaddr_t bdaddr;
  uint8_t type;
  struct hci_conn_info conn_info;
};

struct hci_dev_req {
  uint16_t dev_id;
  uint32_t dev_opt;
};

struct hci_dev_list_req {
  uint16_t dev_num;
  struct hci_dev_req dev_req[2];
};

struct hci_dev_stats {
  uint32_t err_rx, err_tx, cmd_tx, evt_rx, acl_tx, acl_rx, sco_tx, sco_rx, byte_rx, byte_tx;
};

struct hci_dev_info {
  uint16_t dev_id;
  char name[8];
  bdaddr_t bdaddr;
  uint32_t flags;
  uint8_t type;
  uint8_t features[8];
  uint32_t pkt_type, link_policy, link_mode;
  uint16_t acl_mtu, acl_pkts, sco_mtu, sco_pkts;
  struct hci_dev_stats stat;
};

static const unsigned long c_HCIGETDEVLIST = _IOR('H', 210, int);
static const unsigned long c_HCIGETDEVINFO = _IOR('H', 211, int);
static const unsigned long c_HCIGETCONNINFO = _IOR('H', 213, int);
static const unsigned long c_TIOCOUTQ = TIOCOUTQ;
static const unsigned long c_TIOCGWINSZ = TIOCGWINSZ;
static const uint32_t c_EPOLLIN = EPOLLIN;
static const uint32_t c_EPOLLOUT = EPOLLOUT;
static const uint32_t c_EPOLLERR = EPOLLERR;
static const uint32_t c_EPOLLHUP = EPOLLHUP;
static const uint32_t c_EPOLLONESHOT = EPOLLONESHOT;
static const int c_EPOLL_CTL_ADD = EPOLL_CTL_ADD;
static const int c_EPOLL_CTL_DEL = EPOLL_CTL_DEL;
static const int c_EPOLL_CTL_MOD = EPOLL_CTL_MOD;
static const int c_CHAR_MIN = CHAR_MIN;
