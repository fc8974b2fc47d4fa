using System.Text.Json;
using Esb.Content.Json.Paths;

namespace Esb.Tests.Content.Json;

/// <summary>Cases of every production of RFC 9535. (The compliance test suite of the IETF working group is passed but for patterns that
/// come from the document.)</summary>
public sealed class JsonPathTests
{
    private const string Store = """
        {
          "name": "shop",
          "a.b": 1,
          "books": [
            { "title": "A", "price": 8, "tags": ["x", "y"] },
            { "title": "B", "price": 12.5, "isbn": "1" },
            { "title": "Ç", "price": 20, "isbn": null }
          ],
          "limit": 10
        }
        """;

    [TestCase("$.name", "[\"shop\"]")]
    [TestCase("$['a.b']", "[1]")]
    [TestCase("$[\"a.b\"]", "[1]")]
    [TestCase("$.missing", "[]")]
    [TestCase("$.name.first", "[]")]
    [TestCase("$.books[0].title", "[\"A\"]")]
    [TestCase("$.books[-1].title", "[\"Ç\"]")]
    [TestCase("$.books[3]", "[]")]
    [TestCase("$.books[*].title", "[\"A\",\"B\",\"Ç\"]")]
    [TestCase("$.books.*.price", "[8,12.5,20]")]
    [TestCase("$..price", "[8,12.5,20]")]
    [TestCase("$..tags[*]", "[\"x\",\"y\"]")]
    [TestCase("$..[0]", "[{\"title\":\"A\",\"price\":8,\"tags\":[\"x\",\"y\"]},\"x\"]")]
    [TestCase("$.books[0,2].title", "[\"A\",\"Ç\"]")]
    [TestCase("$['name','limit']", "[\"shop\",10]")]
    [TestCase("$.books[1:].title", "[\"B\",\"Ç\"]")]
    [TestCase("$.books[:-1].title", "[\"A\",\"B\"]")]
    [TestCase("$.books[::2].title", "[\"A\",\"Ç\"]")]
    [TestCase("$.books[::-1].title", "[\"Ç\",\"B\",\"A\"]")]
    [TestCase("$.books[?@.price > 10].title", "[\"B\",\"Ç\"]")]
    [TestCase("$.books[?@.price != 1e99999999999].price", "[8,12.5,20]")]
    [TestCase("$.books[?(@.title == 'B')].price", "[12.5]")]
    [TestCase("$.books[?@.price < $.limit].title", "[\"A\"]")]
    [TestCase("$.books[?@.isbn].title", "[\"B\",\"Ç\"]")]
    [TestCase("$.books[?!@.isbn].title", "[\"A\"]")]
    [TestCase("$.books[?@.isbn == null].title", "[\"Ç\"]")]
    [TestCase("$.books[?@.price >= 12.5 && @.price <= 20 || @.title == \"A\"].title", "[\"A\",\"B\",\"Ç\"]")]
    [TestCase("$.books[?!(@.price != 8)].title", "[\"A\"]")]
    [TestCase("$.books[?length(@.tags) == 2].title", "[\"A\"]")]
    [TestCase("$.books[?count(@.*) == 3].title", "[\"A\",\"B\",\"Ç\"]")]
    [TestCase("$.books[?value(@..isbn) == '1'].title", "[\"B\"]")]
    [TestCase("$.books[?match(@.title, '[A-B]')].title", "[\"A\",\"B\"]")]
    [TestCase("$[?search(@, 'ho')]", "[\"shop\"]")]
    [TestCase("$ .books [ 0 ] .title", "[\"A\"]")]
    [TestCase("$.books[?@.title == '\\u00C7'].price", "[20]")]
    public void A_path_selects(string path, string expected)
    {
        using var document = JsonDocument.Parse(Store);

        var selected = JsonPath.Parse(path).Select(document.RootElement, new JsonScope(document.RootElement));

        using var nodes = JsonDocument.Parse(expected);
        Assert.That(
            JsonElement.DeepEquals(JsonSerializer.SerializeToElement(selected), nodes.RootElement),
            Is.True,
            () => JsonSerializer.Serialize(selected)
        );
    }

    [TestCase("", "expected $ at the end")]
    [TestCase("name", "expected $ at position 1, found n")]
    [TestCase("$.", "expected a name or * at the end")]
    [TestCase("$.books[", "at the end")]
    [TestCase("$.books[01]", "leading zeros")]
    [TestCase("$.books[9007199254740992]", "2^53")]
    [TestCase("$.books['x]", "expected ' at the end")]
    [TestCase("$ ", "expected . or [")]
    [TestCase("$.books[?@.price]x", "expected . or [ at position 18")]
    [TestCase("$.books[?@.price = 1]", "found =")]
    [TestCase("$.books[?'a']", "expected a comparison")]
    [TestCase("$.books[?@.* == 1]", "expected a single value")]
    [TestCase("$.books[?nosuch(@.a)]", "nosuch is no function")]
    [TestCase("$.books[?match(@.title, $.name)]", "in quotes")]
    [TestCase("$.books[?match(@.title, '(?<=a)b')]", "regular expression")]
    [TestCase("$['\\uD800']", "Unicode")]
    public void A_text_that_is_no_path_is_refused_with_the_place(string path, string expected)
    {
        Assert.That(() => JsonPath.Parse(path), Throws.InstanceOf<JsonPathException>().With.Message.Contains(expected));
    }

    [Test]
    public void The_first_node_is_the_first_of_all(
        [Values("$.books[1].price", "$..price", "$.none", "$.books[?@.price > 10].title")] string path
    )
    {
        using var document = JsonDocument.Parse(Store);
        var compiled = JsonPath.Parse(path);

        var first = compiled.First(document.RootElement, new JsonScope(document.RootElement));

        var all = compiled.Select(document.RootElement, new JsonScope(document.RootElement));
        Assert.That(first?.GetRawText(), Is.EqualTo(all.Count == 0 ? null : all[0].GetRawText()));
    }
}
