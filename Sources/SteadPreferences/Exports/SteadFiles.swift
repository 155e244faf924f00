// The type that places are of, so that programs need no import beside that of SteadPreferences.
@_exported public import enum SteadFiles.Stead
