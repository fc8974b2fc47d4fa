using Esb.Content.Json;
using Esb.Content.Json.Paths;
using Esb.Core.Expressions;
using Esb.Core.Processes;

namespace Esb.Content.Expressions;

/// <summary>How many nodes a JSONPath selects in the body.</summary>
internal sealed class JsonPathCount(JsonPath path, Func<JsonTime?> newTime) : IMessageValue
{
    public bool ReadsBody => true;

    public object? Evaluate(MessageContext context)
    {
        var root = JsonInput.Read(context.Message.Body);
        try
        {
            return (double)path.Select(root, new JsonScope(root, newTime())).Count;
        }
        catch (InvalidOperationException ex)
        {
            throw JsonFaults.NotText(ex); // found only where a filter looks at a text
        }
    }
}
