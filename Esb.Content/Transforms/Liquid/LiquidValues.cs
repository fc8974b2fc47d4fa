using System.Text.Json;
using Esb.Content.Transforms.Documents;
using Esb.Core.Expressions;
using Esb.Core.Messages;

namespace Esb.Content.Transforms.Liquid;

/// <summary>Converts documents and messages to values of a template: texts, numbers, lists and dictionaries, nothing with members of
/// .NET.</summary>
internal static class LiquidValues
{
    public static object? Of(MapDocument document) => document.Text ?? Of(document.Json);

    public static object? Of(object? value) =>
        value is null or string or bool or double or int or long ? value : MessageValues.AsText(value);

    public static Dictionary<string, object?> Envelope(EsbMessage message, string endpoint) =>
        new()
        {
            ["id"] = Of((object)message.Id),
            ["subject"] = message.Subject,
            ["key"] = message.Key,
            ["contentType"] = message.ContentType,
            ["createdAt"] = Of((object)message.CreatedAt),
            ["party"] = message.Party,
            ["conversationId"] = Of((object)message.ConversationId),
            ["correlationId"] = message.CorrelationId,
            ["endpoint"] = endpoint,
        };

    public static Dictionary<string, object?> Headers(MessageHeaders headers)
    {
        var made = new Dictionary<string, object?>(headers.Count);
        foreach (var (name, value) in headers)
            made[name.ToLowerInvariant()] = value;
        return made;
    }

    private static object? Of(JsonElement json) =>
        json.ValueKind switch
        {
            JsonValueKind.Object => json.EnumerateObject().ToDictionary(member => member.Name, member => Of(member.Value)),
            JsonValueKind.Array => json.EnumerateArray().Select(Of).ToList(),
            JsonValueKind.String => json.GetString(),
            JsonValueKind.Number => json.TryGetDecimal(out var number) ? number : json.GetRawText(),
            JsonValueKind.True => true,
            JsonValueKind.False => false,
            _ => null,
        };
}
