using System.Text.Json.Serialization;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;

namespace Esb.Core.Expressions;

/// <summary>Part of the envelope that a value reads.</summary>
public enum MessagePart
{
    /// <summary>The message's id, a UUID.</summary>
    Id,

    /// <summary>The subject it was published under.</summary>
    Subject,

    /// <summary>The order key.</summary>
    Key,

    /// <summary>The body as text.</summary>
    Body,

    /// <summary>The media type.</summary>
    [JsonStringEnumMemberName("contentType")]
    ContentType,

    /// <summary>Time at which it entered the bus.</summary>
    [JsonStringEnumMemberName("createdAt")]
    CreatedAt,

    /// <summary>The party that sent it.</summary>
    Party,
}

/// <summary>A value taken from a message, or a constant. A plain string, number or boolean is a constant.</summary>
[ExactlyOne("xpath", "jsonpath", "header", "property", "message", "value", "template", "variable", "lookup", "state", "attachment")]
public sealed record ValueConfig : SettingsRecord, IValueSource
{
    /// <inheritdoc/>
    [Setting("An XPath 1.0 expression over the body, with the prefixes of the section namespaces.")]
    public string? Xpath { get; init; }

    /// <inheritdoc/>
    [Setting("A JSONPath over the body.")]
    public string? Jsonpath { get; init; }

    /// <inheritdoc/>
    [Setting("A header of the message.")]
    public string? Header { get; init; }

    /// <inheritdoc/>
    [Setting("A property that an earlier step set.")]
    public string? Property { get; init; }

    /// <inheritdoc/>
    [Setting("A part of the envelope.")]
    public MessagePart? Message { get; init; }

    /// <inheritdoc/>
    [Setting("A constant.", Main = true)]
    public ConfigNode? Value { get; init; }

    /// <inheritdoc/>
    [Setting("A text with places for values, such as \"{message.id}-{header.x-order}\".")]
    public string? Template { get; init; }

    /// <inheritdoc/>
    [Setting("A variable of the workflow.")]
    public string? Variable { get; init; }

    /// <inheritdoc/>
    [Setting("The variable of the workflow that holds the message to read; by default the current message.")]
    public string? Of { get; init; }

    /// <inheritdoc/>
    [Setting("A look-up: the value is a column of the entry that it has under the key.", Reference = "lookups")]
    public string? Lookup { get; init; }

    /// <inheritdoc/>
    [Setting("Beside lookup: what the entry is found by, as text.")]
    public ValueConfig? Key { get; init; }

    /// <inheritdoc/>
    [Setting("Beside lookup: the column; by default the only one beside the key's.")]
    public string? Column { get; init; }

    /// <inheritdoc/>
    [Setting("Beside lookup: the constant where there is no such entry, or its column is empty; by default there is no value.")]
    public ConfigNode? Otherwise { get; init; }

    /// <inheritdoc/>
    [Setting("State: what an earlier process of the endpoint kept under this name by set.")]
    public string? State { get; init; }

    /// <inheritdoc/>
    [Setting("The text of a file or part that a decode before it found, by its name.")]
    public string? Attachment { get; init; }

    /// <inheritdoc/>
    [Setting("Whether a message without this value is refused.")]
    public bool? Required { get; init; }

    /// <inheritdoc/>
    [Setting("Whether a message in which the XPath or JSONPath selects more than one node is refused.")]
    public bool? Single { get; init; }
}

/// <summary>The ways to name a value; exactly one of them is given.</summary>
public interface IValueSource
{
    /// <summary>Its path, for errors.</summary>
    string Path { get; }

    /// <summary>Its origin, for errors.</summary>
    ConfigOrigin Origin { get; }

    /// <summary>An XPath 1.0 expression.</summary>
    string? Xpath { get; }

    /// <summary>A JSONPath.</summary>
    string? Jsonpath { get; }

    /// <summary>A header's name.</summary>
    string? Header { get; }

    /// <summary>A property's name.</summary>
    string? Property { get; }

    /// <summary>A part of the envelope.</summary>
    MessagePart? Message { get; }

    /// <summary>A constant.</summary>
    ConfigNode? Value { get; }

    /// <summary>A template.</summary>
    string? Template { get; }

    /// <summary>A workflow variable's name.</summary>
    string? Variable => null;

    /// <summary>The workflow variable that holds the message to read; null for the current message.</summary>
    string? Of => null;

    /// <summary>The name of a look-up.</summary>
    string? Lookup => null;

    /// <summary>The key of an entry of the look-up.</summary>
    ValueConfig? Key => null;

    /// <summary>The column of the entry; null for the only one.</summary>
    string? Column => null;

    /// <summary>The constant in place of a missing entry.</summary>
    ConfigNode? Otherwise => null;

    /// <summary>The name of a value that an earlier process of the endpoint kept.</summary>
    string? State => null;

    /// <summary>The name of a file of a decoded archive, or of a part of a decoded MIME body.</summary>
    string? Attachment => null;

    /// <summary>True if a message without the value fails: <c>ESB-XPT-NOMATCH</c>, <c>ESB-JPT-NOMATCH</c>, <c>ESB-EXPR-NOVALUE</c>. False
    /// by default.</summary>
    bool? Required { get; }

    /// <summary>True if a message in which an XPath or JSONPath selects more than one node fails: <c>ESB-XPT-MULTI</c>,
    /// <c>ESB-JPT-MULTI</c>. False by default: the first counts.</summary>
    bool? Single { get; }
}
