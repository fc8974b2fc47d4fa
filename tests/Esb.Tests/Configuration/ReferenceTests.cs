using System.Runtime.Versioning;
using Esb.Core.Endpoints;

namespace Esb.Tests.Configuration;

[Platform(Exclude = "Win"), UnsupportedOSPlatform("windows")] // rights of files are those of Unix
public sealed class ReferenceTests : ConfigurationFixture
{
    [Test]
    public void References_stand_anywhere_in_a_text_and_several_times()
    {
        WriteSecret("folder.txt", "deep\r\n");

        var endpoint = Out("\"fileName\": \"${env:A}-${file:folder.txt}-${env:A}\"", ("A", "x"));

        Assert.That(endpoint.FileName, Is.EqualTo("x-deep-x"));
    }

    [Test]
    public void A_doubled_dollar_is_a_plain_one_and_what_a_reference_brings_is_not_looked_through() =>
        Assert.That(Out("\"fileName\": \"$${env:A}${env:A}\"", ("A", "${env:B}")).FileName, Is.EqualTo("${env:A}${env:B}"));

    [Test]
    public void Numbers_and_booleans_may_come_by_reference()
    {
        var endpoint = Out(
            "\"poolSize\": \"${env:N}\", \"enabled\": \"${env:F}\", \"timeout\": \"${env:T}\"",
            ("N", "7"),
            ("F", "false"),
            ("T", "9s")
        );

        Assert.That((endpoint.PoolSize, endpoint.Enabled, endpoint.Timeout), Is.EqualTo((7, false, TimeSpan.FromSeconds(9))));
    }

    [Test, Property("Case", "CFG-24")]
    [TestCase("\"poolSize\": \"${env:ESB_POL}\"", "endpoints.out.poolSize")]
    [TestCase("\"fileName\": \"a${env:ESB_POL}\"", "endpoints.out.fileName")]
    [TestCase("\"subscribe\": [\"${env:ESB_POL}\"]", "endpoints.out.subscribe[0]")]
    [TestCase("\"subscribe\": \"${env:ESB_POL}\"", "endpoints.out.subscribe")]
    [TestCase("\"retry\": \"${env:ESB_POL}\"", "endpoints.out.retry")]
    [TestCase("\"filter\": { \"header\": \"x\", \"equals\": \"${env:ESB_POL}\" }", "endpoints.out.filter.equals")]
    public void A_variable_that_is_not_set_is_named_with_the_property_and_nothing_else_is_complained_about(string property, string path)
    {
        var error = RefuseOnce(Json(property), ("ESB_POOL", "5"));

        Assert.That((error.Code, error.Path), Is.EqualTo(("ESB-CFG-ENV", path)));
        Assert.That(error.Expected, Is.EqualTo("""the environment variable ESB_POL is not set; did you mean "ESB_POOL"?"""));
    }

    [Test, Property("Case", "CFG-24")]
    public void A_variable_without_a_value_is_no_value() =>
        Assert.That(RefuseOnce(Json("\"fileName\": \"${env:A}\""), ("A", "")).Expected, Is.EqualTo("the environment variable A is empty"));

    [Test, Property("Case", "CFG-24")]
    [TestCase("\"fileName\": \"${ENV:A}\"", "endpoints.out.fileName", "${ENV:A}")]
    [TestCase("\"fileName\": \"${A}\"", "endpoints.out.fileName", "${A}")]
    [TestCase("\"fileName\": \"x${env:A\"", "endpoints.out.fileName", "${env:A")]
    [TestCase("\"filter\": { \"header\": \"x\", \"equals\": \"${vault:A}\" }", "endpoints.out.filter.equals", "${vault:A}")]
    public void Anything_else_that_looks_like_a_reference_is_refused_and_never_kept(string property, string path, string reference)
    {
        var error = RefuseOnce(Json(property), ("A", "value"));

        Assert.That((error.Code, error.Path), Is.EqualTo(("ESB-CFG-REFERENCE", path)));
        Assert.That(error.Expected, Does.StartWith($"{reference} is neither ${{env:NAME}} nor ${{file:path}}"));
    }

    [Test, Property("Case", "CFG-25")]
    [TestCase("""{ "listeners": { "public": { "url": "http://a", "key": "geheim" } } }""", "listeners.public.key")]
    [TestCase("""{ "listeners": { "public": { "url": "http://a", "keys": ["${env:A}", "geheim"] } } }""", "listeners.public.keys[1]")]
    [TestCase("""{ "transport": { "type": "rabbitmq", "url": "amqp://bus:geheim@broker" } }""", "transport.url")]
    [TestCase("""{ "transport": { "type": "rabbitmq", "url": "amqp://${env:A}:geheim@broker" } }""", "transport.url")]
    [TestCase(
        """{ "connections": { "shop": { "connection": "Host=db;Username=${env:A};Password = geheim" } } }""",
        "connections.shop.connection"
    )]
    [TestCase("""{ "connections": { "shop": { "connection": "Host=db;Username=${env:A};PSW=geheim" } } }""", "connections.shop.connection")]
    public void A_secret_in_clear_text_is_refused_and_not_shown(string json, string path)
    {
        var error = RefuseOnce(json, ("A", "value"));

        Assert.That((error.Code, error.Path, error.Value), Is.EqualTo(("ESB-CFG-CLEARSECRET", path, "***")));
        Assert.That(error.ToString(), Does.Not.Contain("geheim"));
    }

    [Test, Property("Case", "CFG-25")]
    public void Secrets_by_reference_and_variables_are_accepted()
    {
        WriteSecret("key.txt", "geheim");

        var configuration = Accept(
            """
            {
              "transport": { "type": "rabbitmq", "url": "amqp://bus:${env:A}@broker:5672/esb" },
              "connections": { "shop": { "connection": "Host=db;Password=${file:key.txt}" }, "other": { "connection": "Host=db;Passfile=x" } },
              "listeners": { "public": { "url": "http://a", "key": "${file:key.txt}" }, "open": { "url": "http://b" } }
            }
            """,
            ("A", "value"),
            ("ESB__LISTENERS__OPEN__KEY", "geheim")
        );

        Assert.That(configuration.Named<ListenerConfig>("listeners").Values.Select(listener => listener.Key), Is.All.EqualTo("geheim"));
    }

    [Test, Property("Case", "CFG-26")]
    public void A_secret_file_must_be_there() => AssertSecretFile("the file key.txt does not exist");

    [Test, Property("Case", "CFG-26")]
    [TestCase("")]
    [TestCase("\n")]
    public void A_secret_file_must_hold_something(string content)
    {
        WriteSecret("key.txt", content);

        AssertSecretFile("the file key.txt is empty");
    }

    [Test, Property("Case", "CFG-26")]
    public void A_secret_file_must_not_be_a_directory()
    {
        Directory.CreateDirectory(Path.Combine(Folder, "key.txt"));

        AssertSecretFile("the file key.txt is a directory");
    }

    [Test, Property("Case", "CFG-26")]
    public void A_secret_file_must_not_be_for_everybody()
    {
        File.SetUnixFileMode(Write("key.txt", "geheim"), UnixFileMode.UserRead | UnixFileMode.OtherRead);

        AssertSecretFile("the file key.txt can be read or written by everybody; take the right away from others");
    }

    [Test, Property("Case", "CFG-26")]
    public void A_link_to_a_secret_file_is_judged_by_the_file()
    {
        WriteSecret("target.txt", "geheim");
        File.CreateSymbolicLink(Path.Combine(Folder, "key.txt"), "target.txt");

        Accept("""{ "listeners": { "public": { "url": "http://a", "key": "${file:key.txt}" } } }""");
    }

    [Test]
    public void A_secret_file_that_is_not_text_is_an_error_and_not_an_exception()
    {
        File.SetUnixFileMode(Write("key.txt", [0xFF, 0xFE, 0xFF]), UnixFileMode.UserRead);

        AssertSecretFile("the file key.txt is not UTF-8");
    }

    [Test]
    [TestCase("")]
    [TestCase("\\u0000")]
    public void A_file_reference_without_a_name_is_an_error_and_not_an_exception(string name) =>
        Assert.That(RefuseOnce($$"""{ "name": "${file:{{name}}}" }""").Code, Is.EqualTo("ESB-CFG-SECRETFILE"));

    [Test]
    [TestCase("amqp://bus:p@ss@broker-with-a-name-that-goes-on-for-more-than-sixty-characters/x")]
    [TestCase("amqp://bus:a-password-that-is-itself-longer-than-sixty-characters-so-that-it-is-clipped@broker")]
    [TestCase("Host=db;Password='a;b c';Username=x")]
    [TestCase("Host=db;Password=a b c;Username=x")]
    [TestCase("Host=db;Password='x''a b c';Username=x")]
    [TestCase("Host=db;Password=\"x\"\"a b c\";Username=x")]
    [TestCase("Host=db;psw=a b c;Username=x")]
    public void A_password_inside_a_value_is_never_shown(string url)
    {
        var configuration = Accept("""{ "transport": { "type": "rabbitmq", "url": "amqp://broker" } }""", ("ESB__TRANSPORT__URL", url));

        var shown = configuration.Values.Single(value => value.Path == "transport.url").Shown;
        Assert.That(
            shown,
            Does.Contain("***").And.Not.Contain("p@ss").And.Not.Contain("ss@").And.Not.Contain("a-password").And.Not.Contain("b c")
        );
    }

    [Test]
    public void What_a_reference_brings_is_not_shown_in_errors_for_it_may_be_a_secret()
    {
        var errors = Refuse(
            Json("\"delivery\": \"${env:A}\", \"subscribe\": [\"${env:A}\"], \"poolSize\": \"${env:A}\""),
            ("A", "geheim geheim")
        );

        Assert.That(errors, Has.Count.EqualTo(3));
        Assert.That(errors.Select(error => error.ToString()), Has.None.Contain("geheim").And.All.Contain("\"${env:A}\""));
    }

    private void AssertSecretFile(string expected)
    {
        var error = RefuseOnce("""{ "listeners": { "public": { "url": "http://a", "key": "${file:key.txt}" } } }""");

        Assert.That((error.Code, error.Path, error.Expected), Is.EqualTo(("ESB-CFG-SECRETFILE", "listeners.public.key", expected)));
        Assert.That(error.ToString(), Does.Not.Contain("geheim"));
    }

    private void WriteSecret(string name, string content) =>
        File.SetUnixFileMode(Write(name, content), UnixFileMode.UserRead | UnixFileMode.UserWrite);

    private FileOutConfig Out(string property, params (string Name, string Value)[] variables) =>
        (FileOutConfig)Accept(Json(property), variables).Named<EndpointConfig>("endpoints")["out"];

    private static string Json(string property) =>
        $$"""{ "endpoints": { "out": { "type": "file-outbound", "folder": "out", {{property}} } } }""";
}
