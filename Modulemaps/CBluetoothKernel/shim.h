#pragma once
// Declarations of the kernel and glibc that Swift's Glibc module omits.
#include "imports.h"
#include <spawn.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

// From <spawn.h> and <unistd.h> under _GNU_SOURCE, without which Swift's Glibc module is built.
#define POSIX_SPAWN_SETSID 0x80
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
int pipe2(int ends[2], int flags);

// From <stdlib.h> under _XOPEN_SOURCE.
int posix_openpt(int flags);
int grantpt(int descriptor);
int unlockpt(int descriptor);
int ptsname_r(int descriptor, char *buffer, size_t size);

/// Starts a timer of timerfd_create(2) anew; zero stops it. In C, because Swift sees the fields of `struct timespec` in Glibc or in
/// a module of its own, which depends on the files that it compiles together.
static inline int bluetooth_start_timer(int descriptor, int64_t nanoseconds) {
  struct itimerspec time = {.it_value = {nanoseconds / 1000000000, nanoseconds % 1000000000}};
  return timerfd_settime(descriptor, 0, &time, 0);
}

// From include/net/bluetooth/{bluetooth,l2cap,hci,hci_sock}.h of Linux, which no package installs as kernel headers.
#define BTPROTO_L2CAP 0
#define BTPROTO_HCI 1
#define BT_SECURITY 4
#define BT_SECURITY_LOW 1
#define BT_SECURITY_MEDIUM 2
#define BT_SNDMTU 12
#define BT_RCVMTU 13
#define BDADDR_LE_PUBLIC 1
#define BDADDR_LE_RANDOM 2
#define LE_LINK 0x80
#define SOL_HCI 0
#define HCI_FILTER 2
#define HCI_CHANNEL_RAW 0
#define HCI_MAX_DEV 16
static const unsigned long HCIGETDEVLIST = _IOR('H', 210, int);
static const unsigned long HCIGETDEVINFO = _IOR('H', 211, int);
static const unsigned long HCIGETCONNINFO = _IOR('H', 213, int);

struct bt_security {
  uint8_t level;
  uint8_t key_size;
};

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

// The kernel's declaration ends with a flexible array, as does that of the list of controllers.
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
  struct hci_dev_req dev_req[HCI_MAX_DEV];
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
  // The kernel's `stat`: a member of that name makes Swift take `struct stat` for one of Dispatch's module.
  struct hci_dev_stats statistics;
};
