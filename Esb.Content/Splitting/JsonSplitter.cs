using System.Runtime.InteropServices;
using System.Text.Json;
using Esb.Content.Json;
using Esb.Content.Json.Paths;
using Esb.Core.Messages;

namespace Esb.Content.Splitting;

/// <summary>Divides JSON into the values that a JSONPath selects, as they are written.</summary>
internal sealed class JsonSplitter(JsonPath path, Func<JsonTime?> newTime) : IMessageSplitter
{
    public bool CanStream => false;

    public IEnumerable<SplitItem> Split(MessageBody body)
    {
        foreach (var node in Select(body))
            yield return new SplitItem(MessageBody.FromBytes(JsonMarshal.GetRawUtf8Value(node).ToArray()), "application/json");
    }

    private List<JsonElement> Select(MessageBody body)
    {
        var root = JsonInput.Read(body);
        try
        {
            return path.Select(root, new JsonScope(root, newTime()));
        }
        catch (InvalidOperationException ex)
        {
            throw JsonFaults.NotText(ex); // found only where a text is looked at
        }
    }
}
