namespace Esb.Tests.Content.Json.Scanning;

/// <summary>Makes sound JSONPaths, of those that a forward pass can follow and of others.</summary>
internal sealed class SomeJsonPaths(Random random)
{
    private static readonly string[] Steps =
    [
        ".a",
        ".b",
        ".c",
        "['d']",
        "[\"äö\"]",
        "['a.b']",
        ".e",
        "['f\\n']",
        "[0]",
        "[1]",
        "[2]",
        "[*]",
        ".*",
    ];
    private static readonly string[] Rare =
    [
        "..a",
        "..*",
        "[-1]",
        "[-2]",
        "[0,1]",
        "['b','a']",
        "[1:]",
        "[:2]",
        "[::-1]",
        "[*, 0]",
        "..[0]",
        "[?@.a == $.b]",
    ];

    private static readonly string[] Filters =
    [
        "[?@.a]",
        "[?!@.a]",
        "[?@ == 1]",
        "[?@ > 1]",
        "[?@.a == 'x']",
        "[?@.b >= 2 || @.c]",
        "[?@.a != @.b]",
        "[?length(@) == 2]",
        "[?count(@.*) > 1]",
        "[?match(@, '.')]",
        "[?search(@.b, '[xy]')]",
        "[?value(@..a) == 10]",
    ];

    public string Next()
    {
        var path = "$";
        for (var i = random.Next(5); i > 0; i--)
        {
            path += random.Next(10) switch
            {
                0 => One(Rare),
                1 => One(Filters),
                _ => One(Steps),
            };
        }

        return path;
    }

    private string One(string[] items) => random.GetItems(items, 1)[0];
}
