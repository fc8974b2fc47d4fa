namespace Esb.Core.Expressions;

/// <summary>Tells which values of a configuration need the body of a message in memory.</summary>
public static class BodyReads
{
    /// <summary>True if a value reads the body.</summary>
    public static bool InValue(IValueSource value) =>
        value is { Xpath: not null } or { Jsonpath: not null } or { Message: MessagePart.Body }
        || InTemplate(value.Template)
        || (value.Key is { } key && InValue(key));

    /// <summary>True if a template reads the body.</summary>
    public static bool InTemplate(string? template) => template?.Contains("{message.body}", StringComparison.Ordinal) == true;
}
