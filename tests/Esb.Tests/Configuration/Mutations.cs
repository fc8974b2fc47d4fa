using System.Text;
using System.Text.Json;
using System.Text.Json.Nodes;

namespace Esb.Tests.Configuration;

/// <summary>Breaks configurations, always in the same way for the same seed.</summary>
internal sealed class Mutations(int seed)
{
    private static readonly string[] Pieces =
    [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\\u",
        "\\ud800",
        "null",
        "1e999",
        "-",
        "${",
        "${env:",
        "${file:",
        "//",
        "/*",
        "\0",
        "\u00e9",
        "\"type\":",
        "\"id\":",
    ];

    private static readonly string[] Values =
    [
        "null",
        "true",
        "-1",
        "1e999",
        "\"\"",
        "\"x\"",
        "\"*\"",
        "\"${env:NONE}\"",
        "\"\\u0000\"",
        "\"1s\"",
        "[]",
        "[null]",
        "[\"\"]",
        "{}",
        "{\"x\":{}}",
    ];

    private readonly Random _random = new(seed);

    /// <summary>A few bytes gone, changed or put in: mostly no JSON any more.</summary>
    public byte[] OfBytes(byte[] original)
    {
        var bytes = original.ToList();
        for (var count = _random.Next(1, 5); count > 0; count--)
        {
            var at = _random.Next(bytes.Count);
            switch (_random.Next(4))
            {
                case 0:
                    bytes.RemoveRange(at, Math.Min(_random.Next(1, 20), bytes.Count - at));
                    break;
                case 1:
                    bytes[at] = (byte)_random.Next(256);
                    break;
                case 2:
                    bytes[at] = (byte)_random.Next(' ', '~');
                    break;
                default:
                    bytes.InsertRange(at, Encoding.UTF8.GetBytes(Pieces[_random.Next(Pieces.Length)]));
                    break;
            }
        }

        return [.. bytes];
    }

    /// <summary>A few members gone, misspelt or with another value: still JSON.</summary>
    public byte[] OfValues(byte[] original)
    {
        var root = JsonNode
            .Parse(original, documentOptions: new JsonDocumentOptions { CommentHandling = JsonCommentHandling.Skip })!
            .AsObject();
        for (var count = _random.Next(1, 5); count > 0; count--)
        {
            var owners = Descend(root).Where(owner => owner.Count > 0).ToList();
            if (owners.Count == 0)
                break;
            var owner = owners[_random.Next(owners.Count)];
            var (name, value) = owner.ElementAt(_random.Next(owner.Count));
            owner.Remove(name);
            if (_random.Next(3) is var way && way == 0)
                continue;
            owner[way == 1 ? $"{name}x" : name] = way == 1 ? value : JsonNode.Parse(Values[_random.Next(Values.Length)]);
        }

        return Encoding.UTF8.GetBytes(root.ToJsonString());
    }

    private static IEnumerable<JsonObject> Descend(JsonNode? node) =>
        node switch
        {
            JsonObject owner => owner.SelectMany(member => Descend(member.Value)).Prepend(owner),
            JsonArray array => array.SelectMany(Descend),
            _ => [],
        };
}
