// For all files of this target.
@_exported import SteadTestSupport
@_exported import WorkerModels
