import Bluetooth
import Logging

extension Logger.Metadata {
  /// A message's subject, for the fields of the journal. Keys in capitals are fields only: they are not appended to the
  /// message, which is complete for a person.
  /// - Parameters:
  ///   - peripheral: the field has its identifier and its address.
  ///   - adapter: the peripheral's adapter if missing.
  static func about(
    _ peripheral: Peripheral? = nil, session: Session? = nil, adapter: AdapterSlot? = nil
  ) -> Logger.Metadata {
    var fields = session.map { about(session: $0) } ?? [:]
    if let peripheral { fields["PERIPHERAL"] = ["\(peripheral.id)", "\(peripheral.address)"] }
    if let adapter = adapter ?? peripheral?.adapter { fields["ADAPTER"] = "\(adapter.id)" }
    return fields
  }
}
