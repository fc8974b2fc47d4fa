namespace Esb.Core.Expressions;

/// <summary>The state that values read.</summary>
public static class StateNames
{
    /// <summary>The names of the state that a value reads.</summary>
    public static IEnumerable<string> Of(IValueSource value) =>
        value switch
        {
            { State: { } state } => [state],
            { Key: { } key } => Of(key),
            _ => [],
        };
}
