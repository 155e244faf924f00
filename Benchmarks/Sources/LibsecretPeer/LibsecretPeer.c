#include "LibsecretPeer.h"

#include <libsecret/secret.h>
#include <string.h>

static const SecretSchema schema = {
  "org.freedesktop.Secret.Generic",
  SECRET_SCHEMA_NONE,
  {
    {"service", SECRET_SCHEMA_ATTRIBUTE_STRING},
    {"account", SECRET_SCHEMA_ATTRIBUTE_STRING},
    {NULL, 0},
  },
};

_Bool libsecret_peer_set(const char *service, const char *account, const char *text) {
  return secret_password_store_sync(
    &schema, SECRET_COLLECTION_DEFAULT, account, text, NULL, NULL, "service", service, "account",
    account, NULL);
}

long libsecret_peer_get(const char *service, const char *account) {
  char *text = secret_password_lookup_nonpageable_sync(
    &schema, NULL, NULL, "service", service, "account", account, NULL);
  if (!text) return -1;
  long length = (long)strlen(text);
  secret_password_free(text);
  return length;
}
