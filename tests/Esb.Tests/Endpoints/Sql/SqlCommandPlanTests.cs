using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Endpoints.Sql;
using Esb.Tests.Endpoints.Contracts;

namespace Esb.Tests.Endpoints.Sql;

[TestFixture]
internal sealed class SqlCommandPlanTests
{
    [Test, Property("Case", "SQL-01")]
    public void Message_without_a_value_for_a_parameter_is_refused_before_anything_is_opened()
    {
        var failure = Refusal(Some.Message("{}"));

        using (Assert.EnterMultipleScope())
        {
            Assert.That(failure.Code, Is.EqualTo("ESB-SQL-PARAM"));
            Assert.That(failure.IsTransient, Is.False);
            Assert.That(failure.Message, Does.Contain("@country"));
        }
    }

    [Test]
    public void Optional_parameter_is_null_where_a_message_has_no_value()
    {
        var values = Compile(Config() with { Optional = ["country"] })!.Evaluate(new MessageContext(Some.Message("{}"), "db"));

        Assert.That(values, Is.EqualTo(new string?[] { null }));
    }

    [Test, Property("Case", "SQL-01")]
    public void Parameter_without_a_value_in_the_configuration_is_refused() =>
        Assert.That(
            Errors(Config() with { Parameters = new Dictionary<string, SqlParameterConfig> { ["contry"] = new() { Header = "x" } } }),
            Is.EqualTo([
                "ESB-SQL-PARAM endpoints.db.query: @country has no value: expected one in parameters; did you mean \"contry\"? (default)",
                "ESB-SQL-PARAM endpoints.db.parameters.contry: the command has no @contry; did you mean \"country\"? (default)",
            ])
        );

    [TestCase("select * from {header.x-table}", "ESB-SQL-DYNAMIC")]
    [TestCase("insert into @country values (1)", "ESB-SQL-IDENT")]
    [TestCase("update @country set a = 1", "ESB-SQL-IDENT")]
    [TestCase("select 1 from a join @country on true", "ESB-SQL-IDENT")]
    [Property("Case", "SQL-03"), Property("Case", "SQL-04")]
    public void Command_that_a_message_could_change_is_refused(string query, string code) =>
        Assert.That(Errors(Config() with { Query = query }), Has.Some.StartsWith(code));

    [TestCase("select extract(year from @country::date)")]
    [TestCase("select 1 where 'a' is distinct from @country")]
    public void Value_behind_a_keyword_that_takes_one_is_fine(string query) =>
        Assert.That(Errors(Config() with { Query = query }), Is.Empty);

    [Test, Property("Case", "SQL-06")]
    public void Value_with_NUL_is_refused()
    {
        var failure = Refusal(Some.Message("""{ "country": "a\u0000b" }"""));

        Assert.That(
            (failure.Code, failure.Message),
            Is.EqualTo(
                ("ESB-SQL-VALUE", "The value of the parameter @country has a NUL character, which text in a database cannot contain.")
            )
        );
    }

    [Test, Property("Case", "SQL-07")]
    public void Value_above_the_limit_is_refused()
    {
        var failure = Refusal(Some.Message($$"""{ "country": "{{new string('x', 1001)}}" }"""));

        Assert.That((failure.Code, failure.Kind), Is.EqualTo(("ESB-SQL-VALUE", FaultKind.TooLarge)));
    }

    [TestCase("7", "7")]
    [TestCase("19.99", "19.99")]
    [TestCase("true", "true")]
    [TestCase("\"x\"", "x")]
    public void Values_are_bound_as_text_that_the_database_gives_a_type(string json, string text)
    {
        var values = Compile(Config())!.Evaluate(new MessageContext(Some.Message($$"""{ "country": {{json}} }"""), "db"));

        Assert.That(values, Is.EqualTo([text]));
    }

    [Test]
    public void Times_are_bound_in_UTC()
    {
        var config = Config() with
        {
            Parameters = new Dictionary<string, SqlParameterConfig> { ["country"] = new() { Message = MessagePart.CreatedAt } },
        };
        var message = Some.Message() with { CreatedAt = new DateTimeOffset(2026, 1, 2, 3, 4, 5, TimeSpan.FromHours(2)) };

        Assert.That(Compile(config)!.Evaluate(new MessageContext(message, "db")), Is.EqualTo(["2026-01-02T01:04:05.0000000+00:00"]));
    }

    [Test, Property("Case", "HDR-04")]
    public void Headers_never_choose_the_command()
    {
        var message = Some.Message("""{ "country": "France" }""") with
        {
            Headers = MessageHeaders.From([
                new("CamelSqlQuery", "drop table t"),
                new("query", "drop table t"),
                new("connection", "other"),
                new("country", "Spain"),
            ]),
        };
        var plan = Compile(Config())!;

        Assert.That(plan.Evaluate(new MessageContext(message, "db")), Is.EqualTo(["France"]));
        Assert.That(plan.Text.Statements.Single().Text, Is.EqualTo(Config().Query!.Replace("@country", "$1", StringComparison.Ordinal)));
    }

    [Test]
    public void Command_that_ends_the_transaction_itself_cannot_be_once()
    {
        var config = Config() with { Query = null, Execute = "insert into t values (@country); commit", Once = true };

        Assert.That(Errors(config).Single(), Does.StartWith("ESB-CFG-ONCE endpoints.db.execute"));
        Assert.That(Errors(config with { Once = false }), Is.Empty);
    }

    private static SqlOutboundConfig Config() =>
        new()
        {
            Name = "db",
            Path = "endpoints.db",
            Connection = "shop",
            Query = "select * from customers where country = @country",
            Parameters = new Dictionary<string, SqlParameterConfig> { ["country"] = new() { Jsonpath = "$.country" } },
        };

    private static SqlCommandPlan? Compile(SqlOutboundConfig config, ConfigErrors? errors = null) =>
        SqlCommandPlan.Compile(config, new PlainExpressions(), maxValueCharacters: 1000, errors ?? new ConfigErrors());

    private static List<string> Errors(SqlOutboundConfig config)
    {
        var errors = new ConfigErrors();
        Compile(config, errors);
        return [.. errors.All.Select(error => error.ToString())];
    }

    private static EndpointException Refusal(EsbMessage message) =>
        Assert.Throws<EndpointException>(() => Compile(Config())!.Evaluate(new MessageContext(message, "db")))!;
}
