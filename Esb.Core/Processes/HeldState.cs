using System.Text.Json;
using System.Text.Json.Nodes;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Messages;

namespace Esb.Core.Processes;

/// <summary>Where a held message continues, in its header <see cref="EsbHeaders.Held"/>.</summary>
/// <param name="Process">The process.</param>
/// <param name="Place">The id or the path of the step that held it.</param>
/// <param name="Properties">The properties of the process at that time: texts, numbers and truth values.</param>
public sealed record HeldState(string Process, string Place, IReadOnlyDictionary<string, object> Properties)
{
    /// <summary>The longest state, in characters: it travels as a header.</summary>
    public const int MaxLength = 32 * 1024;

    /// <summary>The message with this state.</summary>
    /// <exception cref="EsbException"><c>ESB-HOLD-PROPERTIES</c>: the properties are too long.</exception>
    public EsbMessage On(EsbMessage message)
    {
        var properties = new JsonObject();
        foreach (var (name, value) in Properties)
            properties[name] = value switch
            {
                double number => number,
                bool flag => flag,
                _ => MessageValues.AsText(value),
            };
        var text = new JsonArray(Process, Place, properties).ToJsonString();
        if (text.Length > MaxLength)
            throw new EsbException(
                "ESB-HOLD-PROPERTIES",
                $"The properties of the process are {text.Length} characters long, and a message that waits keeps at most {MaxLength}; "
                    + "remove what is not needed behind the step.",
                FaultKind.Invalid
            );
        return message with { Headers = message.Headers.With(EsbHeaders.Held, text), Properties = null, Request = null };
    }

    /// <summary>Reads the state of a message; null if it has none, or a damaged one.</summary>
    public static HeldState? Read(EsbMessage message)
    {
        if (message.Headers[EsbHeaders.Held] is not { } text)
            return null;
        try
        {
            if (JsonNode.Parse(text) is not JsonArray { Count: 3 } parts || parts[2] is not JsonObject written)
                return null;
            var properties = new Dictionary<string, object>();
            foreach (var (name, value) in written)
            {
                if (value is not JsonValue found)
                    continue;
                properties[name] = found.GetValueKind() switch
                {
                    JsonValueKind.Number => found.GetValue<double>(),
                    JsonValueKind.True or JsonValueKind.False => found.GetValue<bool>(),
                    _ => found.GetValue<string>(),
                };
            }

            return new HeldState(parts[0]!.GetValue<string>(), parts[1]!.GetValue<string>(), properties);
        }
        catch (Exception ex) when (ex is JsonException or InvalidOperationException or FormatException)
        {
            return null;
        }
    }
}
