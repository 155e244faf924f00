

static _Thread_local void *pending_releases;

void *stead_pending_releases(void) { return pending_releases; }

void stead_set_pending_releases(void *list) { pending_releases = list; }
