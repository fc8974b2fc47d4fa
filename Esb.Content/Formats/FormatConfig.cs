using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;

namespace Esb.Content.Formats;

/// <summary>An entry of the section <c>formats</c>: the layout of a text with records.</summary>
[Kinds("type")]
public abstract record FormatConfig : SettingsRecord
{
    /// <summary>The longest record in bytes of UTF-8.</summary>
    [Setting("The longest record, without the end of its line; a longer one is refused.", Range = "16B..1GiB")]
    public ByteSize MaxLine { get; init; } = ByteSize.MiB(1);

    /// <summary>The treatment of a text without records.</summary>
    [Setting("Whether a text without a record is accepted, as an empty list, or refused.")]
    public EmptyText Empty { get; init; }
}

/// <summary>Ends of lines.</summary>
public enum LineEnd
{
    /// <summary>Carriage return and line feed (RFC 4180).</summary>
    Crlf,

    /// <summary>Line feed.</summary>
    Lf,
}

/// <summary>Treatments of a text without records.</summary>
public enum EmptyText
{
    /// <summary>An empty list.</summary>
    Accept,

    /// <summary>A fault, <c>ESB-FLAT-EMPTY</c>.</summary>
    Refuse,
}
