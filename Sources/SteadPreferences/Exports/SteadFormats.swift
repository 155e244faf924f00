// The types that values and problems are of, so that programs need no import beside that of SteadPreferences.
@_exported public import typealias SteadFormats.JSONObject
@_exported public import enum SteadFormats.JSONValue
@_exported public import enum SteadFormats.PropertyList
@_exported public import struct SteadFormats.PropertyListError
