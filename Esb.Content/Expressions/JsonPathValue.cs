using Esb.Content.Json;
using Esb.Content.Json.Paths;
using Esb.Core.Expressions;
using Esb.Core.Processes;

namespace Esb.Content.Expressions;

/// <summary>A JSONPath over the body: the first node that it selects; JSON null stands for no value.</summary>
internal sealed class JsonPathValue(JsonPath path, Func<JsonTime?> newTime) : IMessageValue
{
    public bool ReadsBody => true;

    public object? Evaluate(MessageContext context)
    {
        var root = JsonInput.Read(context.Message.Body);
        try
        {
            return path.First(root, new JsonScope(root, newTime())) is { } node ? JsonValues.Of(node) : null;
        }
        catch (InvalidOperationException ex)
        {
            throw JsonFaults.NotText(ex); // found only where a text is looked at
        }
    }
}
