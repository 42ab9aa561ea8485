private import Glibc

/// A value of the D-Bus type system (D-Bus Specification, Type System).
package indirect enum BusValue: Hashable, Sendable {
  case byte(UInt8)
  case boolean(Bool)
  case int16(Int16)
  case uint16(UInt16)
  case int32(Int32)
  case uint32(UInt32)
  case int64(Int64)
  case uint64(UInt64)
  case double(Double)
  case string(String)
  case path(String)
  case signature(String)
  /// An open descriptor, which stays its owner's.
  case descriptor(BusDescriptor)
  /// `ay`
  case bytes([UInt8])
  /// An array of values of one type, given by its signature.
  case array(of: String, [BusValue])
  /// A dictionary with its entries in order, and the signatures of keys and values.
  case dictionary(key: String, value: String, [Entry])
  case structure([BusValue])
  case variant(BusValue)

  /// An entry of a dictionary.
  package struct Entry: Hashable, Sendable {
    package var key: BusValue
    package var value: BusValue
    package init(_ key: BusValue, _ value: BusValue) { (self.key, self.value) = (key, value) }
  }

  /// The signature of its type, for instance "a{sv}".
  package var type: String {
    switch self {
    case .byte: "y"
    case .boolean: "b"
    case .int16: "n"
    case .uint16: "q"
    case .int32: "i"
    case .uint32: "u"
    case .int64: "x"
    case .uint64: "t"
    case .double: "d"
    case .string: "s"
    case .path: "o"
    case .signature: "g"
    case .descriptor: "h"
    case .bytes: "ay"
    case .array(let element, _): "a" + element
    case .dictionary(let key, let value, _): "a{\(key)\(value)}"
    case .structure(let members): "(" + members.map(\.type).joined() + ")"
    case .variant: "v"
    }
  }
}

extension BusValue {
  /// Its approximate size in a message, in octets.
  package var size: Int {
    switch self {
    case .byte: 1
    case .boolean, .int16, .uint16, .int32, .uint32, .descriptor: 4
    case .int64, .uint64, .double: 8
    case .string(let text), .path(let text), .signature(let text): 8 + text.utf8.count
    case .bytes(let octets): 8 + octets.count
    case .array(_, let values): values.reduce(8) { $0 + $1.size }
    case .dictionary(_, _, let entries): entries.reduce(8) { $0 + 8 + $1.key.size + $1.value.size }
    case .structure(let members): members.reduce(8) { $0 + $1.size }
    case .variant(let inner): 4 + inner.size
    }
  }

  /// `a{sv}` in the order given.
  package static func options(_ entries: [(String, BusValue)]) -> BusValue {
    .dictionary(key: "s", value: "v", entries.map { Entry(.string($0.0), .variant($0.1)) })
  }

  package static func strings(_ strings: [String]) -> BusValue { .array(of: "s", strings.map(BusValue.string)) }

  package static func paths(_ paths: [String]) -> BusValue { .array(of: "o", paths.map(BusValue.path)) }

  package var string: String? { if case .string(let text) = unwrapped { text } else { nil } }

  package var path: String? { if case .path(let path) = unwrapped { path } else { nil } }

  package var boolean: Bool? { if case .boolean(let flag) = unwrapped { flag } else { nil } }

  package var bytes: [UInt8]? {
    switch unwrapped {
    case .bytes(let octets): octets
    case .array("y", let values) where values.isEmpty: []
    default: nil
    }
  }

  /// An integer of any type.
  package var integer: Int? {
    switch unwrapped {
    case .byte(let number): Int(number)
    case .int16(let number): Int(number)
    case .uint16(let number): Int(number)
    case .int32(let number): Int(number)
    case .uint32(let number): Int(number)
    case .int64(let number): Int(number)
    case .uint64(let number): Int(exactly: number)
    default: nil
    }
  }

  /// An array of integers.
  package var integers: [Int]? {
    guard case .array(_, let values) = unwrapped else { return nil }
    return values.compactMap(\.integer)
  }

  package var strings: [String]? {
    guard case .array("s", let values) = unwrapped else { return nil }
    return values.compactMap(\.string)
  }

  /// The entries of a dictionary with string keys; the last for a repeated key.
  package var options: [(key: String, value: BusValue)]? {
    guard case .dictionary("s", _, let entries) = unwrapped else { return nil }
    return entries.compactMap { entry in entry.key.string.map { ($0, entry.value.unwrapped) } }
  }

  /// The value inside any variants.
  package var unwrapped: BusValue {
    var value = self
    while case .variant(let inner) = value { value = inner }
    return value
  }
}

/// An open descriptor that travels in a message. It is closed with its last reference.
package final class BusDescriptor: Hashable, Sendable {
  /// The number of the descriptor.
  package let number: Int32

  /// Takes ownership of an open descriptor.
  package init(taking number: Int32) { self.number = number }

  deinit { close(number) }

  package static func == (left: BusDescriptor, right: BusDescriptor) -> Bool { left === right }

  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
