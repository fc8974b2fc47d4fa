using Esb.Content.Transforms;
using Esb.Core.Processes;

namespace Esb.Tests.Content.Transforms.Scripts;

/// <summary>A configuration with one map in JavaScript or Liquid.</summary>
internal sealed class ScriptedContent : IDisposable
{
    private readonly ConfiguredContent _content;

    /// <param name="file">The map's file name.</param>
    /// <param name="text">The map.</param>
    /// <param name="settings">Further settings of the map, as JSON members that begin with a comma.</param>
    /// <param name="sections">Further sections, as JSON members that begin with a comma.</param>
    public ScriptedContent(string file, string text, string settings = "", string sections = "") =>
        _content = SomeContent.Configure($$"""{ "maps": { "map": { "file": "{{file}}"{{settings}} } }{{sections}} }""", (file, text));

    public IReadOnlyList<Esb.Core.Configuration.ConfigError> Errors => _content.Errors;

    public IScriptMap Script => (IScriptMap)Map;

    public IMessageMap Map
    {
        get
        {
            Assert.That(_content.Errors, Is.Empty);
            return _content.Get<IMapCatalog>().Find("map")!;
        }
    }

    public static ScriptedContent Js(string body, string settings = "") => new("map.js", body, settings);

    /// <summary>The text that the map makes of a body.</summary>
    public string Make(string body, string? contentType = null, params MapArgument[] arguments) =>
        Map.Transform(Call(body, contentType), arguments).Body.ReadText();

    public static MapCall Call(string body, string? contentType = null, Action<MessageContext>? prepare = null)
    {
        var context = new MessageContext(Some.Message(body) with { ContentType = contentType }, "door");
        prepare?.Invoke(context);
        return new MapCall(context);
    }

    public void Dispose() => _content.Dispose();
}
