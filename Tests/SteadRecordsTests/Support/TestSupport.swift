// For all files of this target.
@_exported import RecordsTestSupport
@_exported import SteadTestSupport
