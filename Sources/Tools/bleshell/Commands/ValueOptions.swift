import ArgumentParser
import ValueFormats

/// The options for reading values.
struct ValueOptions: ParsableArguments {
  @Option(
    name: .customLong("as"),
    help: """
      The format of the values: such as "i16le*0.01 °C", or several fields, "u8 state, f32 speed m/s" (docs/values.md). \
      Without it that of "bleshell name", of the device, or of the SIG.
      """,
    transform: valueFormat)
  var format: ValueFormat?
}

/// Reads a format.
@Sendable func valueFormat(_ text: String) throws -> ValueFormat {
  do {
    return try ValueFormat(text)
  } catch {
    throw ValidationError(error.description)
  }
}
