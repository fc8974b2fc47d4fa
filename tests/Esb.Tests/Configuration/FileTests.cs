using System.Text;
using Esb.Core.Topics;

namespace Esb.Tests.Configuration;

public sealed class FileTests : ConfigurationFixture
{
    [Test, Property("Case", "CFG-01")]
    public void A_missing_file_is_named_with_the_place_where_it_was_looked_for()
    {
        var errors = RefusePath("no-such/esb.json");

        Assert.That(errors, Has.Count.EqualTo(1));
        Assert.That(errors[0].Code, Is.EqualTo("ESB-CFG-NOTFOUND"));
        Assert.That(
            errors[0].Describe(),
            Does.StartWith("no-such/esb.json: ")
                .And.Contain(Path.GetFullPath("no-such/esb.json"))
                .And.EndWith($"from {Directory.GetCurrentDirectory()}")
        );
    }

    [Test, Property("Case", "CFG-01")]
    [TestCase("")]
    [TestCase("\0")]
    public void A_path_that_can_be_none_is_not_found(string path) =>
        Assert.That(RefusePath(path).Single().Code, Is.EqualTo("ESB-CFG-NOTFOUND"));

    [Test, Property("Case", "CFG-01")]
    public void A_folder_without_json_is_not_found() => Assert.That(RefusePath(Folder).Single().Code, Is.EqualTo("ESB-CFG-NOTFOUND"));

    [Test, Property("Case", "CFG-02")]
    [TestCase("")]
    [TestCase(" \n\t ")]
    [TestCase("\uFEFF")]
    public void An_empty_file_is_not_taken_for_all_defaults(string text) => Assert.That(RefuseOnce(text).Code, Is.EqualTo("ESB-CFG-EMPTY"));

    [Test, Property("Case", "CFG-03")]
    public void A_missing_comma_is_shown_with_line_column_and_text()
    {
        var error = RefuseOnce("{\n  \"name\": \"a\"\n  \"topics\": {}\n}");

        Assert.That(error.Code, Is.EqualTo("ESB-CFG-SYNTAX"));
        Assert.That(error.Expected, Does.StartWith("is not valid JSON at '\"topics\"': "));
        Assert.That(error.Origin!.ToString(), Does.EndWith("esb.json:3:3"));
    }

    [Test, Property("Case", "CFG-03")]
    public void What_follows_the_offending_text_is_not_shown_for_it_may_be_a_secret()
    {
        var error = RefuseOnce("""{ "user": "bus" "password": "geheim" }""");

        Assert.That(error.Describe(), Does.Contain("'\"password\"'").And.Not.Contain("geheim"));
    }

    [Test, Property("Case", "CFG-03")]
    public void A_long_offending_text_is_clipped_to_40_characters()
    {
        var error = RefuseOnce($$"""{ "name" {{new string('x', 100)}} }""");

        Assert.That(error.Expected, Does.Contain($"'{new string('x', 39)}…'"));
    }

    [Test, Property("Case", "CFG-03")]
    [TestCase("""{ "name": "a" """, "the end of the file")]
    [TestCase("""{} {}""", "'{'")]
    [TestCase("""{ name: "a" }""", "'name'")]
    [TestCase("""{ "name": 'a' }""", "''a''")]
    public void Other_faults_of_syntax_name_their_place(string json, string found) =>
        Assert.That(RefuseOnce(json).Expected, Does.StartWith($"is not valid JSON at {found}: "));

    [Test, Property("Case", "CFG-04")]
    public void Comments_are_part_of_the_dialect()
    {
        var configuration = Accept(
            """
            // before
            { /* between */ "name": "a" // behind
            }
            """
        );

        Assert.That(configuration.Name, Is.EqualTo("a"));
    }

    [Test, Property("Case", "CFG-04")]
    [TestCase("""{ "name": "a", }""")]
    [TestCase("""{ "endpoints": { "a": { "methods": ["POST",] } } }""")]
    public void Trailing_commas_are_not(string json)
    {
        var error = RefuseOnce(json);

        Assert.That(error.Code, Is.EqualTo("ESB-CFG-SYNTAX"));
        Assert.That(error.Expected, Does.EndWith("trailing commas are not allowed"));
    }

    [Test, Property("Case", "CFG-05")]
    public void A_property_given_twice_is_shown_with_both_places()
    {
        var error = RefuseOnce("{ \"name\": \"a\",\n  \"name\": \"b\" }");

        Assert.That(error.Code, Is.EqualTo("ESB-CFG-DUPKEY"));
        Assert.That(error.Path, Is.EqualTo("name"));
        Assert.That(error.Expected, Does.Contain("esb.json:1:3").And.Contain("esb.json:2:3"));
    }

    [Test]
    public void Half_a_surrogate_pair_is_an_error_and_not_an_exception() =>
        Assert.That(
            RefuseOnce("""{ "name": "a", "namespaces": { "o": "\ud800" } }""").Describe(),
            Does.StartWith("namespaces.o: holds half of a surrogate pair")
        );

    [Test]
    [TestCase("[]")]
    [TestCase("null")]
    [TestCase("\"text\"")]
    public void A_root_that_is_no_object_is_of_the_wrong_type(string json) =>
        Assert.That(RefuseOnce(json).Code, Is.EqualTo("ESB-CFG-TYPE"));

    [Test, Property("Case", "CFG-32")]
    public void A_byte_order_mark_is_accepted()
    {
        var configuration = AcceptPath(Write("esb.json", [.. Encoding.UTF8.Preamble, .. """{ "name": "a" }"""u8]));

        Assert.That(configuration.Name, Is.EqualTo("a"));
    }

    [Test, Property("Case", "CFG-32")]
    [TestCase("utf-16", true, 0)]
    [TestCase("utf-16BE", true, 0)]
    [TestCase("utf-16", false, 1)]
    public void Utf16_is_refused_with_the_byte(string encoding, bool mark, int offset)
    {
        var coding = Encoding.GetEncoding(encoding);
        byte[] bytes = [.. mark ? coding.GetPreamble() : [], .. coding.GetBytes("{}")];

        var error = RefusePath(Write("esb.json", bytes)).Single();

        Assert.That(error.Code, Is.EqualTo("ESB-CFG-ENCODING"));
        Assert.That(error.Expected, Does.EndWith($"at byte {offset}"));
    }

    [Test, Property("Case", "CFG-32")]
    public void An_invalid_byte_is_refused_with_its_offset_in_the_file()
    {
        var error = RefusePath(Write("esb.json", [.. Encoding.UTF8.Preamble, .. "{ \"name\": \""u8, 0xFF, .. "\" }"u8])).Single();

        Assert.That(error.Code, Is.EqualTo("ESB-CFG-ENCODING"));
        Assert.That(error.Expected, Does.EndWith("at byte 14"));
    }

    [Test, Property("Case", "CFG-33")]
    public void More_than_8_MiB_are_refused()
    {
        var error = RefusePath(Write("esb.json", new byte[(8 * 1024 * 1024) + 1])).Single();

        Assert.That(error.Code, Is.EqualTo("ESB-CFG-TOOBIG"));
        Assert.That(error.Expected, Is.EqualTo("expected at most 8MiB"));
    }

    [Test, Property("Case", "CFG-33")]
    public void More_than_64_levels_are_refused()
    {
        var error = RefuseOnce(string.Concat(Enumerable.Repeat("{\"a\":", 65)) + "1" + new string('}', 65));

        Assert.That(error.Code, Is.EqualTo("ESB-CFG-TOOBIG"));
        Assert.That(error.Expected, Is.EqualTo("is nested deeper than 64 levels"));
    }

    [Test, Category("Thorough"), CancelAfter(30_000)]
    public void A_file_of_megabytes_on_one_line_is_read_in_seconds()
    {
        var topics = string.Join(',', Enumerable.Range(0, 100_000).Select(number => $"\"topic-number-{number}\":{{}}"));

        var configuration = Accept($$"""{ "topics": { {{topics}} } }""");

        Assert.That(configuration.Named<TopicConfig>("topics"), Has.Count.EqualTo(100_000));
    }

    [Test]
    public void Columns_count_characters_and_not_bytes()
    {
        var error = RefuseOnce("""{ /* größer */ "name": "a", "colour": 1 }""");

        Assert.That(error.Origin!.Column, Is.EqualTo(29));
    }
}
