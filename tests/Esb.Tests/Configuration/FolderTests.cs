using Esb.Core.Endpoints;
using Esb.Core.Topics;

namespace Esb.Tests.Configuration;

public sealed class FolderTests : ConfigurationFixture
{
    [Test]
    public void The_files_of_a_folder_are_merged_section_by_section()
    {
        Write("a.esb.json", """{ "$schema": "esb.schema.json", "name": "merged", "topics": { "a": {} } }""");
        Write("b.esb.json", """{ "$schema": "esb.schema.json", "topics": { "b": { "persistent": false } } }""");
        Write("notes.txt", "not read");

        var configuration = AcceptPath(Folder);

        Assert.That(configuration.Name, Is.EqualTo("merged"));
        Assert.That(configuration.Named<TopicConfig>("topics").Keys, Is.EqualTo(["a", "b"]));
    }

    [Test]
    public void Other_json_beside_a_configuration_is_left_alone()
    {
        Write("esb.json", """{ "name": "merged" }""");
        Write("targets.json", """{ "east": "http://east" }""");
        Write("body.json", """{ "name": "ada", "amount": 1, }""");
        Write("list.json", "[1]");
        Write("broken.json", "{ no json");
        Write("data/order.json", """{ "topics": {} }""");

        Assert.That(AcceptPath(Folder).Name, Is.EqualTo("merged"));
    }

    [Test]
    public void Section_in_a_file_of_another_name_is_refused()
    {
        Write("esb.json", """{ "name": "merged" }""");
        Write("orders.json", """{ /* ours */ "$schema": "x", "topics": { "orders": {} } }""");
        Write("later.json", """{ "policies": {} }""");

        var errors = RefusePath(Folder);

        Assert.That(errors.Select(error => error.Code), Is.EqualTo(["ESB-CFG-FILENAME", "ESB-CFG-FILENAME"]));
        Assert.That(errors[1].Describe(), Does.Contain("orders.json").And.Contains("\"topics\"").And.Contains("orders.esb.json"));
    }

    [Test]
    public void Folder_whose_only_configuration_has_another_name_says_so_once()
    {
        Write("config.json", """{ "topics": { "orders": {} } }""");

        Assert.That(RefusePath(Folder).Single().Code, Is.EqualTo("ESB-CFG-FILENAME"));
    }

    [Test, Property("Case", "CFG-12")]
    public void A_name_in_two_files_is_refused_with_both_places()
    {
        Write("a.esb.json", """{ "topics": { "orders": {} } }""");
        Write("b.esb.json", """{ "topics": { "orders": {} } }""");

        var error = RefusePath(Folder).Single();

        Assert.That(error.Code, Is.EqualTo("ESB-CFG-DUPNAME"));
        Assert.That(error.Path, Is.EqualTo("topics.orders"));
        Assert.That(error.Expected, Does.Contain("a.esb.json:1:15").And.Contain("b.esb.json:1:15"));
    }

    [Test]
    public void A_section_that_is_no_object_stands_in_one_file_only()
    {
        Write("a.esb.json", """{ "name": "a" }""");
        Write("b.esb.json", """{ "name": "b" }""");

        Assert.That(RefusePath(Folder).Single().Code, Is.EqualTo("ESB-CFG-DUPNAME"));
    }

    [Test]
    public void All_files_that_cannot_be_read_are_reported_and_nothing_that_would_only_follow_from_them()
    {
        Write("a.esb.json", "{");
        Write("b.esb.json", "");
        Write("c.esb.json", """{ "processes": { "p": [{ "publish": "orders.new" }] } }""");

        Assert.That(RefusePath(Folder).Select(error => error.Code), Is.EqualTo(["ESB-CFG-SYNTAX", "ESB-CFG-EMPTY"]));
    }

    [Test]
    public void A_path_is_relative_to_the_file_that_names_it()
    {
        Write("a.esb.json", """{ "schemas": { "order": "schemas/order.xsd" } }""");
        Write("environments/prod.json", """{ "schemas": { "other": "../other.xsd" } }""");

        var schemas = AcceptPath(Folder, ("ESB_ENVIRONMENT", "prod")).Named<FileConfig>("schemas");

        Assert.That(schemas["order"].File, Is.EqualTo(Path.Combine(Folder, "schemas", "order.xsd")));
        Assert.That(schemas["other"].File, Is.EqualTo(Path.Combine(Folder, "other.xsd")));
    }

    [Test]
    [TestCase("")]
    [TestCase("a\\u0000b")]
    public void A_path_that_can_be_none_is_refused(string path) =>
        Assert.That(RefuseOnce($$"""{ "schemas": { "order": "{{path}}" } }""").Code, Is.EqualTo("ESB-CFG-PATH"));

    [Test]
    public void An_environment_is_laid_over_objects_merge_and_lists_replace()
    {
        var file = Write(
            "esb.json",
            """
            {
              "topics": { "a": {}, "b": {} },
              "endpoints": { "out": { "type": "file-outbound", "folder": "out", "subscribe": ["a.#", "b.#"], "poolSize": 2 } }
            }
            """
        );
        Write("environments/prod.json", """{ "endpoints": { "out": { "subscribe": ["b.*"], "poolTimeout": "5s" } } }""");

        var endpoint = (FileOutConfig)AcceptPath(file, ("ESB_ENVIRONMENT", "prod")).Named<EndpointConfig>("endpoints")["out"];

        Assert.Multiple(() =>
        {
            Assert.That(endpoint.Subscribe.Select(pattern => pattern.Value), Is.EqualTo(["b.*"]));
            Assert.That(endpoint.PoolSize, Is.EqualTo(2));
            Assert.That(endpoint.PoolTimeout, Is.EqualTo(TimeSpan.FromSeconds(5)));
        });
    }

    [Test]
    public void An_environment_that_changes_a_type_keeps_what_both_types_have()
    {
        var file = Write(
            "esb.json",
            """
            {
              "store": { "type": "file", "folder": "data" },
              "topics": { "a": {} },
              "endpoints": { "out": { "type": "file-outbound", "folder": "out", "subscribe": ["a.#"], "queue": { "type": "quorum", "maxLength": 5 } } }
            }
            """
        );
        Write(
            "environments/prod.json",
            """{ "endpoints": { "out": { "type": "http-outbound", "url": "http://there", "queue": { "type": "classic" } } } }"""
        );

        var endpoint = (OutboundEndpointConfig)AcceptPath(file, ("ESB_ENVIRONMENT", "prod")).Named<EndpointConfig>("endpoints")["out"];

        Assert.That(endpoint.Subscribe.Select(pattern => pattern.Value), Is.EqualTo(["a.#"]));
        Assert.That(endpoint.Queue, Has.Property("Type").EqualTo(QueueType.Classic).And.Property("MaxLength").EqualTo(5));
    }

    [Test]
    public void A_variable_that_changes_a_type_keeps_what_both_types_have()
    {
        var json = """{ "endpoints": { "out": { "type": "file-outbound", "folder": "out", "poolSize": 7 } } }""";

        var endpoint = Accept(json, ("ESB__ENDPOINTS__OUT__TYPE", "http-outbound"), ("ESB__ENDPOINTS__OUT__URL", "http://there"))
            .Named<EndpointConfig>("endpoints")["out"];

        Assert.That(endpoint, Is.Not.InstanceOf<FileOutConfig>().And.Property("PoolSize").EqualTo(7));
    }

    [Test]
    public void A_misspelt_key_is_still_told_when_the_type_changes()
    {
        var file = Write("esb.json", """{ "endpoints": { "out": { "type": "file-outbound", "foldr": "out" } } }""");
        Write("environments/prod.json", """{ "endpoints": { "out": { "type": "http-outbound", "url": "http://there" } } }""");

        Assert.That(RefusePath(file, ("ESB_ENVIRONMENT", "prod")).Select(error => error.Path), Is.EqualTo(["endpoints.out.foldr"]));
    }

    [Test]
    public void An_environment_without_a_file_is_refused_with_the_nearest_one()
    {
        var file = Write("esb.json", "{}");
        Write("environments/production.json", "{}");

        var error = RefusePath(file, ("ESB_ENVIRONMENT", "prodution")).Single();

        Assert.That(error.Code, Is.EqualTo("ESB-CFG-NOTFOUND"));
        Assert.That(error.Expected, Does.EndWith("""did you mean "production"?"""));
    }

    [Test]
    public void An_environment_cannot_name_a_file_elsewhere()
    {
        var file = Write("conf/esb.json", "{}");
        Write("elsewhere.json", "{}");

        Assert.That(RefusePath(file, ("ESB_ENVIRONMENT", "../../elsewhere")).Single().Code, Is.EqualTo("ESB-CFG-NOTFOUND"));
    }

    [Test]
    public void The_same_content_has_the_same_hash_however_it_is_written()
    {
        var one = Accept("""{ "name": "a", "topics": { "t": { "persistent": false } } }""").WrittenHash;
        var same = Accept("""{ "$schema": "x", "topics": { "t": { "persistent": false } }, /* moved */ "name": "a" }""").WrittenHash;
        var other = Accept("""{ "name": "a", "topics": { "t": { "persistent": true } } }""").WrittenHash;

        Assert.That(one, Does.Match("^[0-9a-f]{64}$"));
        Assert.That(same, Is.EqualTo(one));
        Assert.That(other, Is.Not.EqualTo(one));
    }
}
