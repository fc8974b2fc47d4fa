using System.Runtime.InteropServices;
using System.Text.Json;
using Esb.Content.Json;
using Esb.Content.Json.Paths;
using Esb.Core.Messages;

namespace Esb.Content.Masking;

/// <summary>A rule for bodies that are JSON.</summary>
internal sealed record JsonRule(JsonPath Values, MaskAction Action);

/// <summary>Masks JSON. Thread-safe.</summary>
internal sealed class JsonMask(IReadOnlyList<JsonRule> rules, ValueMask values, Func<JsonTime> newTime)
{
    /// <summary>The document as it may be recorded; the same bytes where no rule selects anything.</summary>
    /// <exception cref="Esb.Core.Errors.EsbException">It is no sound JSON, or a path took too long.</exception>
    public ReadOnlyMemory<byte> Apply(MessageBody body, MaskFindings findings)
    {
        var root = JsonInput.Read(body);
        var document = JsonMarshal.GetRawUtf8Value(root);
        var replacements = new Dictionary<int, (MaskAction Action, string? Text)>();
        try
        {
            foreach (var rule in rules)
            {
                foreach (var node in rule.Values.Select(root, new JsonScope(root, newTime())))
                {
                    // where it stands is what tells it from its equals
                    document.Overlaps(JsonMarshal.GetRawUtf8Value(node), out var offset);
                    if (replacements.TryGetValue(offset, out var known) && known.Action >= rule.Action)
                        continue;
                    replacements[offset] = (rule.Action, Replacement(node, rule.Action, findings));
                }
            }
        }
        catch (InvalidOperationException ex)
        {
            throw JsonFaults.NotText(ex);
        }

        return replacements.Count == 0 ? body.Bytes : JsonMaskOutput.Write(document, replacements);
    }

    private string? Replacement(JsonElement node, MaskAction action, MaskFindings findings)
    {
        var isSingle = node.ValueKind is not (JsonValueKind.Object or JsonValueKind.Array);
        var masked = values.Apply(action, TextOf(node), isSingle);
        AddSecrets(node, masked, findings);
        return masked;
    }

    // True, false and null are too common to be looked for elsewhere.
    private static void AddSecrets(JsonElement node, string? masked, MaskFindings findings)
    {
        if (node.ValueKind is JsonValueKind.String or JsonValueKind.Number)
            findings.Add(TextOf(node), masked);
        foreach (var child in JsonSelector.Children(node))
            AddSecrets(child, masked, findings);
    }

    private static string TextOf(JsonElement node) => node.ValueKind == JsonValueKind.String ? node.GetString()! : node.GetRawText();
}
