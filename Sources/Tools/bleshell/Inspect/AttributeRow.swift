import BledRPC
import Bluetooth
import ValueFormats

/// A line of a device's attribute tree: a service, or an attribute in it.
struct AttributeRow: Equatable {
  /// The kind of the row.
  enum Kind: Equatable {
    /// With its last handle.
    case service(end: UInt16, isPrimary: Bool)
    /// A service that the service includes.
    case included(end: UInt16)
    /// With its properties.
    case characteristic([Word<CharacteristicProperty>])
    case descriptor
  }

  let kind: Kind
  let uuid: BluetoothUUID
  let handle: UInt16
  /// The handle of its service, or its own.
  let service: UInt16
  /// The name that the user or the device gives it.
  var name: String?
  /// The format that the user or the device gives its value.
  var format: ValueFormat?

  /// Its distance from the root.
  var depth: Int {
    switch kind {
    case .service: 0
    case .included, .characteristic: 1
    case .descriptor: 2
    }
  }

  /// "Heart Rate (180D)"
  var title: String {
    if case .included = kind { return "includes \(Attribute.title(uuid, named: name))" }
    return Attribute.title(uuid, named: name)
  }

  var style: Output.Style {
    switch kind {
    case .service: .bold
    case .included: .dim
    case .characteristic: .name
    case .descriptor: .plain
    }
  }

  /// Its handles, and its properties.
  var rest: String {
    switch kind {
    case .service(let end, let isPrimary): range(to: end) + (isPrimary ? "" : "  secondary")
    case .included(let end): range(to: end)
    case .characteristic(let properties): "\(handle.handleText)  \(properties.map(\.text).joined(separator: ", "))"
    case .descriptor: handle.handleText
    }
  }

  /// True if it has a value for this use. The permissions of a descriptor are unknown.
  func fits(_ use: AttributeUse) -> Bool {
    switch kind {
    case .service, .included: false
    case .characteristic(let properties): use.fits(properties)
    case .descriptor: use != .subscribe
    }
  }

  /// The attribute that commands work on.
  var attribute: Attribute {
    var properties: [Word<CharacteristicProperty>] = []
    if case .characteristic(let own) = kind { properties = own }
    var attribute = Attribute(handle: handle, uuid: uuid, properties: properties)
    (attribute.name, attribute.format) = (name, format)
    return attribute
  }

  private func range(to end: UInt16) -> String { "\(handle.handleText)\(Output.hasUTF8 ? "…" : "..")\(end.handleText)" }
}

extension [ServiceDescription] {
  /// The lines of the tree, each service before its contents.
  var rows: [AttributeRow] {
    flatMap { service in
      let head = AttributeRow(
        kind: .service(end: service.end, isPrimary: service.primary), uuid: service.uuid, handle: service.handle,
        service: service.handle)
      let included = (service.includes ?? []).map {
        AttributeRow(kind: .included(end: $0.end), uuid: $0.uuid, handle: $0.handle, service: service.handle)
      }
      return [head] + included + (service.characteristics ?? []).flatMap { $0.rows(in: service.handle) }
    }
  }
}

extension CharacteristicDescription {
  fileprivate func rows(in service: UInt16) -> [AttributeRow] {
    let descriptors = (descriptors ?? []).map {
      AttributeRow(kind: .descriptor, uuid: $0.uuid, handle: $0.handle, service: service)
    }
    return [AttributeRow(kind: .characteristic(properties), uuid: uuid, handle: handle, service: service)] + descriptors
  }
}
