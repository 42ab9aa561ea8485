import MIDI

/// An input from the sequencer.
package enum SequencerInput {
  /// Events of programs, as they were read.
  case events([UInt8])
  /// Events were lost: programs sent more than the kernel keeps.
  case lost
}

/// Opens clients of ALSA's sequencer.
package protocol SequencerFiles: AnyObject {
  /// Opens a client with one port, both of this name; `received` is never called from inside this call.
  func open(_ name: String, _ received: @escaping (SequencerInput) -> Void) throws(SequencerFailure)
    -> any SequencerFile
}

/// A client of ALSA's sequencer.
package protocol SequencerFile: AnyObject {
  /// The number of its port.
  var port: UInt8 { get }
  /// False: events of programs wait in the kernel.
  var isReading: Bool { get set }
  /// Passes an event on.
  /// - Returns: false if a program that is connected has no room for it.
  func send(_ event: [UInt8]) -> Bool
  /// Ends the client.
  func close()
}

/// A refusal of the kernel.
package struct SequencerFailure: Error, Hashable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}
