// The types of values and problems, so that programs need no other import than SteadPreferences.
@_exported public import typealias SteadFormats.JSONObject
@_exported public import enum SteadFormats.JSONValue
@_exported public import enum SteadFormats.PropertyList
@_exported public import struct SteadFormats.PropertyListError
