using System.Text.Encodings.Web;
using System.Text.Json;

namespace Esb.Content.Formats;

/// <summary>The JSON that formats write: compact, and with letters of all scripts as they are.</summary>
internal static class FormatJson
{
    public static readonly JavaScriptEncoder Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping;

    public static readonly JsonWriterOptions Options = new() { Encoder = Encoder, SkipValidation = true };
}
