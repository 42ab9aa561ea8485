import ArgumentParser
import BledRPC
import Bluetooth

// Words of the protocol as arguments: ArgumentParser refuses others, and lists them in the help and the completions.

extension PHYChoice: ExpressibleByArgument {}
extension PrimaryPHYChoice: ExpressibleByArgument {}
extension PrimaryPHY: ExpressibleByArgument {}
extension SecurityLevel: ExpressibleByArgument {}
extension ChannelSecurity: ExpressibleByArgument {}
extension ChannelMode: ExpressibleByArgument {}
extension CaptureFormat: ExpressibleByArgument {}
extension ScanStart.AddressKind: ExpressibleByArgument {}

extension ExpressibleByArgument where Self: Vocabulary & RawRepresentable, RawValue == String {
  /// Reads one of the words.
  public init?(argument: String) { self.init(word: argument) }
}
