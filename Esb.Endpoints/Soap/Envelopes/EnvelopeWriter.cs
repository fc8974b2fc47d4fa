using System.Text;

namespace Esb.Endpoints.Soap.Envelopes;

/// <summary>Writes envelopes around elements in UTF-8.</summary>
internal static class EnvelopeWriter
{
    private static readonly Frame Of11 = new(SoapVersion.V11);
    private static readonly Frame Of12 = new(SoapVersion.V12);

    /// <summary>The prefix of the elements of SOAP.</summary>
    public const string Prefix = "soap";

    /// <summary>Writes an envelope.</summary>
    /// <param name="version">The version.</param>
    /// <param name="headers">The headers; empty for none. They may use <see cref="Prefix"/>.</param>
    /// <param name="body">The child of Body, with its own declarations; empty for none.</param>
    public static byte[] Write(SoapVersion version, ReadOnlySpan<byte> headers, ReadOnlySpan<byte> body)
    {
        var frame = version == SoapVersion.V11 ? Of11 : Of12;
        var start = headers.IsEmpty ? frame.Start : frame.StartWithHeaders;
        var middle = headers.IsEmpty ? ReadOnlySpan<byte>.Empty : Frame.Middle;
        var envelope = new byte[start.Length + headers.Length + middle.Length + body.Length + Frame.End.Length];
        var rest = Append(Append(Append(Append(envelope, start), headers), middle), body);
        Frame.End.CopyTo(rest);
        return envelope;
    }

    private static Span<byte> Append(Span<byte> rest, ReadOnlySpan<byte> part)
    {
        part.CopyTo(rest);
        return rest[part.Length..];
    }

    private sealed class Frame(SoapVersion version)
    {
        public static readonly byte[] Middle = "</soap:Header><soap:Body>"u8.ToArray();
        public static readonly byte[] End = "</soap:Body></soap:Envelope>"u8.ToArray();

        public byte[] Start { get; } = Encoding.UTF8.GetBytes($"""<soap:Envelope xmlns:soap="{version.Namespace}"><soap:Body>""");

        public byte[] StartWithHeaders { get; } =
            Encoding.UTF8.GetBytes($"""<soap:Envelope xmlns:soap="{version.Namespace}"><soap:Header>""");
    }
}
