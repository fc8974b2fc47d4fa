using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Expressions;

namespace Esb.Endpoints.Sql;

/// <summary>The direction of a parameter of a procedure.</summary>
public enum SqlDirection
{
    /// <summary>Into the procedure.</summary>
    In,

    /// <summary>Out of it.</summary>
    Out,

    /// <summary>Both.</summary>
    InOut,
}

/// <summary>A parameter of a command: a value, and what the database should know of it. A plain string, number or boolean is a
/// constant.</summary>
[AtMostOne("xpath", "jsonpath", "header", "property", "message", "value", "template")]
public sealed record SqlParameterConfig : SettingsRecord, IValueSource
{
    private static readonly string[] Kinds = ["xpath", "jsonpath", "header", "property", "template"];

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
    [Setting("A constant, or one of the other forms as an object, such as { \"jsonpath\": \"$.id\" }.", Main = true)]
    public ConfigNode? Value { get; init; }

    /// <inheritdoc/>
    [Setting("A text with places for values, such as \"{message.id}-{header.x-order}\".")]
    public string? Template { get; init; }

    /// <inheritdoc/>
    [Setting("Whether a message without this value is refused.")]
    public bool? Required { get; init; }

    /// <inheritdoc/>
    [Setting("Whether a message in which the XPath or JSONPath selects more than one node is refused.")]
    public bool? Single { get; init; }

    /// <summary>The type in the database; null to let it infer the type.</summary>
    [Setting("The type of the parameter in the database, such as uuid or numeric(9, 2); by default the one that its place needs.")]
    public string? Type { get; init; }

    /// <summary>The direction.</summary>
    [Setting("Whether the value goes into the procedure, comes out of it, or both; commands take in only.")]
    public SqlDirection Direction { get; init; }

    /// <summary>True if it has a value.</summary>
    internal bool HasValue => (Xpath ?? Jsonpath ?? Header ?? Property ?? Template) is not null || Message is not null || Value is not null;

    /// <summary>The value itself, where <c>value</c> holds one of the other forms.</summary>
    internal IValueSource Source
    {
        get
        {
            if (Value is not { Kind: ConfigKind.Object, Members: [{ Value.Kind: ConfigKind.Text } form] } || !Kinds.Contains(form.Name))
                return this;
            var text = form.Value.Text;
            return new ValueConfig
            {
                Name = Name,
                Path = Path,
                Origin = Origin,
                Required = Required,
                Single = Single,
                Xpath = form.Name == "xpath" ? text : null,
                Jsonpath = form.Name == "jsonpath" ? text : null,
                Header = form.Name == "header" ? text : null,
                Property = form.Name == "property" ? text : null,
                Template = form.Name == "template" ? text : null,
            };
        }
    }
}
