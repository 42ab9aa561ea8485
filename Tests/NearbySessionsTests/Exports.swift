@_exported import DaemonTestSupport
