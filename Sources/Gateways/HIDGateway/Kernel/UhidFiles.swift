/// Opens the files of the kernel's devices.
package protocol UhidFiles: AnyObject {
  /// Opens a file for a device; `received` gets the events of the kernel, never from inside this call.
  func open(_ received: @escaping (UhidEvent) -> Void) throws(UhidFailure) -> any UhidFile
}

/// A file for one device of the kernel.
package protocol UhidFile: AnyObject {
  func send(_ request: UhidRequest) throws(UhidFailure)
  /// Ends the device.
  func close()
}

/// A refusal of the kernel.
package struct UhidFailure: Error, Hashable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}
