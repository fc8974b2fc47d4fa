using System.Collections.Frozen;

namespace Esb.Content.Schemas.Json;

/// <summary>A format of texts (2020-12 validation, section 7.3), for schemas that assert it. Immutable and thread-safe.</summary>
internal sealed class TextFormat
{
    private static readonly FrozenDictionary<string, TextFormat> All = new TextFormat[]
    {
        new("date-time", TimeFormats.IsDateTime),
        new("date", TimeFormats.IsDate),
        new("time", TimeFormats.IsTime),
        new("duration", TimeFormats.IsDuration),
        new("email", text => NetFormats.IsEmail(text, allowsAll: false)),
        new("idn-email", text => NetFormats.IsEmail(text, allowsAll: true)),
        new("hostname", text => NetFormats.IsHostName(text, allowsAll: false)),
        new("idn-hostname", text => NetFormats.IsHostName(text, allowsAll: true)),
        new("ipv4", NetFormats.IsIpv4),
        new("ipv6", NetFormats.IsIpv6),
        new("uri", text => UriFormats.IsUri(text, allowsAll: false, allowsRelative: false)),
        new("uri-reference", text => UriFormats.IsUri(text, allowsAll: false, allowsRelative: true)),
        new("iri", text => UriFormats.IsUri(text, allowsAll: true, allowsRelative: false)),
        new("iri-reference", text => UriFormats.IsUri(text, allowsAll: true, allowsRelative: true)),
        new("uri-template", UriFormats.IsTemplate),
        new("uuid", UriFormats.IsUuid),
        new("json-pointer", UriFormats.IsPointer),
        new("relative-json-pointer", UriFormats.IsRelativePointer),
        new("regex", IsRegex),
    }.ToFrozenDictionary(format => format.Name);

    private readonly Test _test;

    private TextFormat(string name, Test test)
    {
        Name = name;
        _test = test;
    }

    private delegate bool Test(ReadOnlySpan<char> text);

    public string Name { get; }

    /// <summary>The format with this name; null for one that is not known, which accepts everything.</summary>
    public static TextFormat? Find(string name) => All.GetValueOrDefault(name);

    public bool Accepts(ReadOnlySpan<char> text) => _test(text);

    private static bool IsRegex(ReadOnlySpan<char> text)
    {
        try
        {
            new EcmaTranslator(text.ToString(), checksOnly: true).Translate();
            return true;
        }
        catch (EcmaPatternException)
        {
            return false;
        }
    }
}
