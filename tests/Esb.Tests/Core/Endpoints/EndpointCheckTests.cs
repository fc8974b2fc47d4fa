using Esb.Configuration;
using Esb.Core;
using Esb.Core.Configuration;
using Esb.Tests.Configuration;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Endpoints;

public sealed class EndpointCheckTests : ConfigurationFixture
{
    [Test, Property("Case", "CFG-17")]
    [TestCase("poolSize")]
    [TestCase("processingThreads")]
    public void Ordered_delivery_refuses_two_at_once_and_names_the_setting(string setting)
    {
        var error = Check($"\"delivery\": \"ordered\", \"{setting}\": 2").Single();

        Assert.That((error.Code, error.Path, error.Value), Is.EqualTo(("ESB-CFG-ORDERING", $"endpoints.out.{setting}", "2")));
        Assert.That(error.Expected, Does.StartWith("expected 1, because of delivery \"ordered\""));
        Assert.That(error.Origin!.Line, Is.EqualTo(2));
    }

    [Test, Property("Case", "CFG-17")]
    public void Ordered_delivery_is_accepted_as_it_is_by_default() =>
        Assert.That(Check("\"delivery\": \"ordered\", \"onFailure\": \"park\""), Is.Empty);

    [Test, Property("Case", "CFG-17")]
    public void Tuning_a_parallel_endpoint_is_no_matter_of_order() =>
        Assert.That(Check("\"poolSize\": 250, \"processingThreads\": 30"), Is.Empty);

    [Test]
    public void Parking_without_order_is_refused()
    {
        var error = Check("\"onFailure\": \"park\"").Single();

        Assert.That((error.Code, error.Path), Is.EqualTo(("ESB-CFG-ORDERING", "endpoints.out.onFailure")));
    }

    [Test]
    public void Once_is_refused_where_the_effect_is_in_no_database()
    {
        var error = Check("\"once\": true").Single();

        Assert.That((error.Code, error.Path), Is.EqualTo(("ESB-CFG-ONCE", "endpoints.out.once")));
    }

    [Test, Property("Case", "CFG-22"), Property("Case", "T-TMO-2")]
    public void Repeating_in_place_must_end_well_before_the_broker_loses_patience()
    {
        var error = Check("\"delivery\": \"ordered\", \"timeout\": \"10s\", \"retry\": { \"immediate\": 0, \"delays\": [\"15m\"] }")
            .Single();

        Assert.That((error.Code, error.Path), Is.EqualTo(("ESB-CFG-ACKTIMEOUT", "endpoints.out.retry")));
        Assert.That(error.Expected, Does.Contain("2 attempts of 10s and the delays take up to 920s; expected at most 15m"));
    }

    [Test, Property("Case", "CFG-22"), Property("Case", "T-TMO-2")]
    public void Attempts_without_a_delay_must_end_well_before_the_broker_loses_patience_too()
    {
        var error = Check("\"timeout\": \"10m\"").Single();

        Assert.That((error.Code, error.Path), Is.EqualTo(("ESB-CFG-ACKTIMEOUT", "endpoints.out.retry")));
        Assert.That(error.Expected, Does.StartWith("3 attempts of 10m take up to 30m"));
    }

    [Test, Property("Case", "CFG-18")]
    public void Order_by_key_needs_a_key_at_each_topic()
    {
        var error = Check("\"delivery\": \"ordered-by-key\", \"subscribe\": [\"keyed.#\", \"plain.a\", \"plain.b\"]").Single();

        Assert.That((error.Code, error.Path), Is.EqualTo(("ESB-CFG-ORDERING", "endpoints.out.delivery")));
        Assert.That(error.Expected, Does.Contain("the topic 'plain' has no key"));
    }

    [Test, Property("Case", "CFG-17")]
    public void Order_by_key_is_no_matter_of_pool_and_threads() =>
        Assert.That(
            Check(
                "\"delivery\": \"ordered-by-key\", \"subscribe\": [\"keyed.#\"], \"poolSize\": 16, \"processingThreads\": 8, "
                    + "\"lanes\": 4, \"onFailure\": \"park\""
            ),
            Is.Empty
        );

    [Test]
    public void Lanes_that_hosts_share_need_a_store_that_they_share()
    {
        var error = Check(
                "\"delivery\": \"ordered-by-key\", \"subscribe\": [\"keyed.#\"]",
                """, "transport": { "type": "rabbitmq", "url": "amqp://b" }"""
            )
            .Single();

        Assert.That((error.Code, error.Path), Is.EqualTo(("ESB-CFG-STORE", "endpoints.out.delivery")));
    }

    [Test]
    [TestCase("x-*-y", "neither the name of a header nor the beginning of one")]
    [TestCase("", "neither the name of a header nor the beginning of one")]
    [TestCase("two words", "neither the name of a header nor the beginning of one")]
    [TestCase("esb-*", "is reserved for the bus")]
    [TestCase("cc", "is reserved for the bus")]
    public void A_header_pattern_that_would_match_nothing_is_refused(string pattern, string expected)
    {
        var error = Check($"\"headers\": [\"x-*\", \"{pattern}\"]").Single();

        Assert.That((error.Code, error.Path), Is.EqualTo(("ESB-CFG-HEADER", "endpoints.out.headers")));
        Assert.That(error.Expected, Does.Contain(expected));
    }

    [Test]
    public void All_headers_and_none_are_accepted([Values("[]", "[\"*\"]", "[\"accept\", \"x-a*\"]")] string headers) =>
        Assert.That(Check($"\"headers\": {headers}"), Is.Empty);

    private IReadOnlyList<ConfigError> Check(string properties, string more = "")
    {
        var configuration = Accept(
            $$"""
            { "topics": { "keyed": { "key": { "header": "x-key" } }, "plain": {} },
              "endpoints": { "out": { "type": "file-outbound", "folder": "x", {{properties}} } }{{more}} }
            """
        );
        var errors = new ConfigErrors();

        using var services = Compiled.Build(new ServiceCollection().AddEsbConfiguration(), configuration, errors);

        return errors.All;
    }
}
