import ArgumentParser
import Bluetooth
import ValueFormats

/// A value with its way of writing.
struct Writing: Equatable {
  enum Way {
    /// With a response, if the characteristic supports that.
    case usual
    case withoutResponse
    case signed
  }

  let octets: [UInt8]
  let way: Way

  init(octets: [UInt8], way: Way = .usual) { (self.octets, self.way) = (octets, way) }

  /// Reads the words after the characteristic in the command `write`: `01 02`, `Hello --text`.
  /// - Throws: `Failure`, with the expected words.
  init(line: String) throws(Failure) {
    do {
      let parsed = try Line.parse(CommandWords(line).complete())
      self = try parsed.options.writing(parsed.value.joined(separator: " "))
    } catch let failure as Failure {
      throw failure
    } catch {
      throw Failure("expected a VALUE in hex digits, or text with --text; --no-response, --signed")
    }
  }

  private struct Line: ParsableArguments {
    @Argument var value: [String]
    @OptionGroup var options: WriteOptions
  }
}

/// The options for a value and its way of writing.
struct WriteOptions: ParsableArguments {
  @Flag(help: "The value is text.") var text = false
  @Option(
    name: .customLong("as"),
    help: "The format of the value, such as u16 or \"i16*0.01\" (docs/values.md): 300, 22.5 or \"3, 22.5\" is given.",
    transform: valueFormat)
  var format: ValueFormat?
  @Flag(help: "Write without response.") var noResponse = false
  @Flag(help: "Write without response, signed with the key of the bond.") var signed = false

  /// - Throws: `Failure` if the value does not fit the options.
  func writing(_ value: String) throws -> Writing {
    guard !text || format == nil else { throw Failure("--text and --as: give one of them", status: 64) }
    return Writing(
      octets: text ? Array(value.utf8) : try formatted(value) ?? octets(value, hint: "; for text add --text"),
      way: signed ? .signed : noResponse ? .withoutResponse : .usual)
  }

  private func formatted(_ value: String) throws(Failure) -> [UInt8]? {
    do throws(ValueFormatError) {
      return try format?.octets(of: value)
    } catch {
      throw Failure("\(error)", status: 64)
    }
  }
}

extension Device {
  /// Writes a value. A characteristic that supports only writes without response is always written that way.
  func write(_ writing: Writing, to attribute: Attribute) async throws {
    guard writing.way != .signed else {
      return try await peripheral.writeSigned(writing.octets, to: .handle(attribute.handle))
    }
    let onlyCommands = attribute.has(.writeWithoutResponse) && !attribute.has(.write)
    try await write(
      writing.octets, to: attribute.handle, response: writing.way == .usual && !onlyCommands)
  }
}
