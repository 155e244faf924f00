// Logger.
