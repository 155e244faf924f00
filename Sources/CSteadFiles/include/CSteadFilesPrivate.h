#ifndef CSTEAD_FILES_PRIVATE_H
#define CSTEAD_FILES_PRIVATE_H

// Descriptors that the child of a fork does not get. A lock belongs to an open file that parent and
// child would share, and would last until both are gone.

// From now on a fork closes the descriptor in the child. Those from 1,048,576 on are not seen to.
void stead_private_descriptor_add(int descriptor);

// To be called before the descriptor is closed.
void stead_private_descriptor_remove(int descriptor);

#endif
