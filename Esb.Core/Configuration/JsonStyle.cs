using System.Text.Encodings.Web;
using System.Text.Json;

namespace Esb.Core.Configuration;

/// <summary>JSON output for people: quotes, angle brackets and umlauts unescaped.</summary>
public static class JsonStyle
{
    /// <summary>On one line.</summary>
    public static readonly JsonSerializerOptions Readable = new() { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping };

    /// <summary>Indented.</summary>
    public static readonly JsonSerializerOptions Indented = new(Readable) { WriteIndented = true };
}
