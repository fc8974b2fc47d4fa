using System.Text.Json;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Expressions;

namespace Esb.Workflows.Processes.Endings;

/// <summary>State as it is stored: a JSON text, number or boolean.</summary>
internal static class StateText
{
    private const int MaxLength = 4_000;

    /// <summary>The value; null if nothing is stored.</summary>
    public static object? Read(string? stored)
    {
        if (stored is null)
            return null;
        using var json = JsonDocument.Parse(stored);
        return json.RootElement.ValueKind switch
        {
            JsonValueKind.Number => json.RootElement.GetDouble(),
            JsonValueKind.True => true,
            JsonValueKind.False => false,
            _ => json.RootElement.GetString(),
        };
    }

    /// <summary>The text to store.</summary>
    /// <exception cref="EsbException"><c>ESB-STATE-SIZE</c>: it is too long.</exception>
    public static string Write(string name, object value)
    {
        var text =
            value is bool or double && value is not double.NaN and not double.PositiveInfinity and not double.NegativeInfinity
                ? MessageValues.AsText(value)!
                : JsonSerializer.Serialize(MessageValues.AsText(value), JsonStyle.Readable);
        return text.Length <= MaxLength
            ? text
            : throw new EsbException("ESB-STATE-SIZE", $"The state '{name}' is longer than {MaxLength} characters.", FaultKind.Invalid);
    }
}
