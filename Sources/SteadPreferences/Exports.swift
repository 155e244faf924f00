// So that programs need no other import than SteadPreferences: the type of locations and problems,
// and those of values.
@_exported public import enum SteadFiles.Stead
@_exported public import typealias SteadFormats.JSONObject
@_exported public import enum SteadFormats.JSONValue
@_exported public import enum SteadFormats.PropertyList
@_exported public import struct SteadFormats.PropertyListError
