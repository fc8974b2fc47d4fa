using System.Globalization;
using System.Xml;
using Esb.Content.Xml;

namespace Esb.Endpoints.Soap.Security;

/// <summary>What stands in the header of WS-Security. Immutable.</summary>
internal sealed record UsernameToken
{
    private const int MaxNonceBytes = 256;

    /// <summary>The user; null if there is no token.</summary>
    public string? User { get; private init; }

    public string Password { get; private init; } = "";

    /// <summary>True if the password is a digest.</summary>
    public bool IsDigest { get; private init; }

    /// <summary>Empty if there is none.</summary>
    public byte[] Nonce { get; private init; } = [];

    /// <summary>The time of the token, as it is written; empty if there is none.</summary>
    public string Created { get; private init; } = "";

    /// <summary>The times of the time stamp beside the token.</summary>
    public (DateTimeOffset? Created, DateTimeOffset? Expires) Stamp { get; private init; }

    /// <summary>Reads a header; null if it cannot be read, has two tokens, or has signatures or encrypted parts, which are not
    /// checked.</summary>
    public static UsernameToken? Read(ReadOnlyMemory<byte> header, XmlInput xml)
    {
        using var reader = xml.Read(header);
        var token = new UsernameToken();
        var around = "";
        while (reader.Read())
        {
            if (reader.NodeType != XmlNodeType.Element)
                continue;
            if (reader.NamespaceURI is WssNames.Signature or WssNames.Encryption)
                return null;
            if (reader is { LocalName: "UsernameToken" or "Timestamp", Depth: 1 })
                around = reader.LocalName;
            if (reader is { LocalName: "UsernameToken", Depth: 1 } && token.User is not null)
                return null;
            if (Take(token, reader, around) is not { } taken)
                return null;
            token = taken;
        }

        return token;
    }

    /// <summary>Parses a time of XML Schema with a zone; null for anything else.</summary>
    public static DateTimeOffset? TimeOf(string text) =>
        DateTimeOffset.TryParse(text, CultureInfo.InvariantCulture, DateTimeStyles.AssumeUniversal, out var time) ? time : null;

    private static UsernameToken? Take(UsernameToken token, XmlReader reader, string around)
    {
        switch (reader.NamespaceURI, around, reader.LocalName)
        {
            case (WssNames.Wsse, "UsernameToken", "Username"):
                return token with { User = TextOf(reader) };
            case (WssNames.Wsse, "UsernameToken", "Password"):
                var type = reader.GetAttribute("Type");
                return type is null or WssNames.PasswordText or WssNames.PasswordDigest
                    ? token with
                    {
                        IsDigest = type == WssNames.PasswordDigest,
                        Password = TextOf(reader),
                    }
                    : null;
            case (WssNames.Wsse, "UsernameToken", "Nonce"):
                return BytesOf(TextOf(reader)) is { } nonce ? token with { Nonce = nonce } : null;
            case (WssNames.Wsu, "UsernameToken", "Created"):
                return token with { Created = TextOf(reader) };
            case (WssNames.Wsu, "Timestamp", "Created"):
                return TimeOf(TextOf(reader)) is { } created ? token with { Stamp = (created, token.Stamp.Expires) } : null;
            case (WssNames.Wsu, "Timestamp", "Expires"):
                return TimeOf(TextOf(reader)) is { } expires ? token with { Stamp = (token.Stamp.Created, expires) } : null;
            default:
                return token;
        }
    }

    private static string TextOf(XmlReader reader)
    {
        var text = "";
        if (reader.IsEmptyElement)
            return text;
        while (
            reader.Read()
            && reader.NodeType
                is XmlNodeType.Text
                    or XmlNodeType.CDATA
                    or XmlNodeType.Whitespace
                    or XmlNodeType.SignificantWhitespace
                    or XmlNodeType.Comment
        )
        {
            if (reader.NodeType != XmlNodeType.Comment)
                text += reader.Value;
        }

        return text;
    }

    private static byte[]? BytesOf(string text)
    {
        var bytes = new byte[MaxNonceBytes];
        return Convert.TryFromBase64String(text.Trim(), bytes, out var written) ? bytes[..written] : null;
    }
}
