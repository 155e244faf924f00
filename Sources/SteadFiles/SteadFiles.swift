// Directories, atomic files and blobs: the ground floor.
