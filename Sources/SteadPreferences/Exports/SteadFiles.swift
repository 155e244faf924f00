// The type of locations, so that programs need no other import than SteadPreferences.
@_exported public import enum SteadFiles.Stead
