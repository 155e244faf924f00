// For all files of this target.
@_exported import SteadTestSupport
