using System.Text;
using Esb.Content.Formats;
using Esb.Content.Formats.Conversion;
using Esb.Core.Messages;

namespace Esb.Tests.Content.Formats;

/// <summary>A format under test, compiled as in a host, and conversions with it.</summary>
internal sealed class SomeFormats : IDisposable
{
    private readonly ConfiguredContent _content;

    private SomeFormats(ConfiguredContent content) => _content = content;

    /// <summary>A configuration with the one format <c>f</c>.</summary>
    public static SomeFormats Of(string format, string more = "") =>
        new(SomeContent.Configure($$"""{ "formats": { "f": {{format}} }{{more}} }"""));

    public IReadOnlyList<string> Errors => [.. _content.Errors.Select(error => error.ToString())];

    public ContentConverter Converter => _content.Get<ContentConverter>();

    public IMessageFormat Format => _content.Get<FormatModels>().Find("f")!;

    public string ToJson(string text) => ToJson(Encoding.UTF8.GetBytes(text));

    public string ToJson(byte[] text) => Convert(text, "f", "json");

    public string FromJson(string json) => Convert(Encoding.UTF8.GetBytes(json), "json", "f");

    public string Convert(string text, string from, string to, ConversionOptions? options = null) =>
        Convert(Encoding.UTF8.GetBytes(text), from, to, options);

    public string Convert(byte[] text, string from, string to, ConversionOptions? options = null)
    {
        Assert.That(Errors, Is.Empty);
        return Converter.Convert(MessageBody.FromBytes(text), from, to, options ?? ConversionOptions.Default).Body.ReadText();
    }

    public FormatFaultException Fault(string text) => Fault(Encoding.UTF8.GetBytes(text));

    public FormatFaultException Fault(byte[] text) => Assert.Throws<FormatFaultException>(() => ToJson(text))!;

    public void Dispose() => _content.Dispose();
}
