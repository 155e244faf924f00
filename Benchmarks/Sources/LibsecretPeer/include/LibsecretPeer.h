#ifndef LIBSECRET_PEER_H
#define LIBSECRET_PEER_H

// Keeps a text in the default collection. Returns whether it did.
_Bool libsecret_peer_set(const char *service, const char *account, const char *text);

// The length of the text that is kept, or -1 when there is none.
long libsecret_peer_get(const char *service, const char *account);

#endif
