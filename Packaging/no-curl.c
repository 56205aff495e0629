// Stands in for libcurl, against which Foundation's URLSession is linked, where Swift's libraries are linked statically.
//
// bluectl and mqtt-gateway open no URL. FlyingFox, whose server they use, contains a proxy that would, and the linker cannot
// know that nothing uses it. With libcurl, they would need thirty more libraries, TLS and LDAP among them.
#include <stdio.h>
#include <stdlib.h>

static void absent(const char *name) {
  fprintf(stderr, "%s: the program was built without libcurl\n", name);
  abort();
}

#define ABSENT(name) \
  void name(void) { absent(#name); }

ABSENT(curl_easy_cleanup)
ABSENT(curl_easy_getinfo)
ABSENT(curl_easy_init)
ABSENT(curl_easy_pause)
ABSENT(curl_easy_setopt)
ABSENT(curl_easy_strerror)
ABSENT(curl_free)
ABSENT(curl_global_init)
ABSENT(curl_multi_add_handle)
ABSENT(curl_multi_assign)
ABSENT(curl_multi_cleanup)
ABSENT(curl_multi_info_read)
ABSENT(curl_multi_init)
ABSENT(curl_multi_remove_handle)
ABSENT(curl_multi_setopt)
ABSENT(curl_multi_socket_action)
ABSENT(curl_slist_append)
ABSENT(curl_slist_free_all)
ABSENT(curl_url)
ABSENT(curl_url_get)
ABSENT(curl_url_set)
ABSENT(curl_version)
ABSENT(curl_version_info)
// Asked for since libcurl 7.86, as by the Foundation that Debian builds.
ABSENT(curl_ws_meta)
ABSENT(curl_ws_recv)
ABSENT(curl_ws_send)
