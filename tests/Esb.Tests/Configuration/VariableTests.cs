using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Processes;
using Esb.Core.Topics;

namespace Esb.Tests.Configuration;

public sealed class VariableTests : ConfigurationFixture
{
    private const string Orders = """
        {
          "topics": { "orders": {} },
          "endpoints": {
            "orders-db": { "type": "file-outbound", "folder": "x", "subscribe": ["orders.#"] },
            "shop": { "type": "http-inbound", "path": "/", "process": "receive" }
          },
          "processes": {
            "receive": [
              { "set": { "headers": { "x-kind": "plain" } } },
              { "publish": "orders.new", "id": "hand-on" },
              { "choose": { "when": [{ "if": { "header": "x", "equals": "a" }, "steps": [{ "call": "orders-db" }] }] } }
            ]
          }
        }
        """;

    [Test]
    [TestCase("ESB__ENDPOINTS__ORDERS_DB__POOLSIZE")]
    [TestCase("esb__endpoints__orders_db__poolsize")]
    [TestCase("ESB__Endpoints__Orders-Db__PoolSize")]
    public void In_the_names_of_variables_case_does_not_matter_and_underscore_stands_for_dash(string name) =>
        Assert.That(OrdersDb(Accept(Orders, (name, "250"))).PoolSize, Is.EqualTo(250));

    [Test]
    public void Numbers_booleans_durations_and_choices_are_written_as_text()
    {
        var endpoint = OrdersDb(
            Accept(
                Orders,
                ("ESB__ENDPOINTS__ORDERS_DB__ENABLED", "false"),
                ("ESB__ENDPOINTS__ORDERS_DB__POOLTIMEOUT", "5s"),
                ("ESB__ENDPOINTS__ORDERS_DB__DELIVERY", "ordered"),
                ("ESB__ENDPOINTS__ORDERS_DB__RETRY__IMMEDIATE", "0")
            )
        );

        Assert.That(
            (endpoint.Enabled, endpoint.PoolTimeout, endpoint.Delivery, endpoint.Retry.Immediate),
            Is.EqualTo((false, TimeSpan.FromSeconds(5), DeliveryMode.Ordered, 0))
        );
    }

    [Test]
    public void A_list_is_written_as_JSON_and_replaces()
    {
        var endpoint = OrdersDb(
            Accept(
                Orders,
                ("ESB__ENDPOINTS__ORDERS_DB__SUBSCRIBE", """["orders.a", "orders.b"]"""),
                ("ESB__ENDPOINTS__ORDERS_DB__RETRY__DELAYS", "[]")
            )
        );

        Assert.That(endpoint.Subscribe.Select(pattern => pattern.Value), Is.EqualTo(["orders.a", "orders.b"]));
        Assert.That(endpoint.Retry.Delays, Is.Empty);
    }

    [Test]
    public void A_list_that_is_not_JSON_is_refused_with_the_variable()
    {
        var error = RefuseOnce(Orders, ("ESB__ENDPOINTS__ORDERS_DB__SUBSCRIBE", "orders.a"));

        Assert.That((error.Code, error.Path), Is.EqualTo(("ESB-CFG-SYNTAX", "environment variable ESB__ENDPOINTS__ORDERS_DB__SUBSCRIBE")));
    }

    [TestCase("geheim-0123456789"), TestCase("topsecret-geheim"), TestCase("""["ab\qgeheim"]"""), TestCase("""["geheim" "geheim"]""")]
    public void What_stands_in_a_variable_that_is_not_JSON_is_not_shown_for_it_may_be_a_secret(string value)
    {
        var error = RefuseOnce("{}", ("ESB__LISTENERS__PUBLIC__KEYS", value));

        Assert.That(error.Code, Is.EqualTo("ESB-CFG-SYNTAX"));
        Assert.That(error.ToString(), Does.Not.Contain("geheim").And.Not.Contain("topsecret"));
    }

    [Test]
    public void An_object_is_written_as_JSON_before_variables_for_its_parts()
    {
        var endpoint = OrdersDb(
            Accept(
                Orders,
                ("ESB__ENDPOINTS__ORDERS_DB__RETRY__IMMEDIATE", "7"),
                ("ESB__ENDPOINTS__ORDERS_DB__RETRY", """{ "immediate": 1, "delays": ["1s"] }""")
            )
        );

        Assert.That((endpoint.Retry.Immediate, endpoint.Retry.Delays.Count), Is.EqualTo((7, 1)));
    }

    [Test]
    public void A_step_is_found_by_its_id_or_its_position()
    {
        var configuration = Accept(
            Orders,
            ("ESB__PROCESSES__RECEIVE__HAND_ON__PUBLISH", "orders.changed"),
            ("ESB__PROCESSES__RECEIVE__0__SET__HEADERS__X_KIND", "changed"),
            ("ESB__PROCESSES__RECEIVE__2__CHOOSE__WHEN__0__IF__EQUALS", "5"),
            ("ESB__PROCESSES__RECEIVE__2__CHOOSE__WHEN__0__STEPS__0__CALL__TIMEOUT", "7s")
        );

        var steps = configuration.Named<IReadOnlyList<StepConfig>>("processes")["receive"];
        var when = ((ChooseConfig)steps[2].Settings).When[0];
        Assert.Multiple(() =>
        {
            Assert.That(((PublishConfig)steps[1].Settings).Subject, Is.EqualTo(new Subject("orders.changed")));
            Assert.That(((SetConfig)steps[0].Settings).Headers["x-kind"].Value!.Text, Is.EqualTo("changed"));
            Assert.That(when.If.EqualTo, Has.Property("Kind").EqualTo(ConfigKind.Number).And.Property("Text").EqualTo("5"));
            Assert.That(
                when.Steps[0].Settings,
                Is.EqualTo(new CallConfig { Endpoint = "orders-db", Timeout = TimeSpan.FromSeconds(7) })
                    .Using<CallConfig>((one, other) => (one.Endpoint, one.Timeout) == (other.Endpoint, other.Timeout))
            );
        });
    }

    [Test]
    public void A_default_is_there_to_be_changed_where_the_file_says_nothing()
    {
        var configuration = Accept(
            "{}",
            ("ESB__LISTENERS__PUBLIC__URL", "http://0.0.0.0:80"),
            ("ESB__NAME", "by-variable"),
            ("ESB__LIMITS__MAXBODYSIZE", "1MiB")
        );

        Assert.Multiple(() =>
        {
            Assert.That(configuration.Named<ListenerConfig>("listeners")["public"].Url, Is.EqualTo("http://0.0.0.0:80"));
            Assert.That(configuration.Name, Is.EqualTo("by-variable"));
            Assert.That(configuration.Section<LimitsConfig>("limits").MaxBodySize, Is.EqualTo(ByteSize.MiB(1)));
        });
    }

    [Test]
    public void A_whole_object_comes_even_before_its_type()
    {
        var configuration = Accept(
            "{}",
            ("ESB__TRANSPORT", """{ "type": "memory" }"""),
            ("ESB__TRANSPORT__TYPE", "rabbitmq"),
            ("ESB__TRANSPORT__URL", "amqp://b")
        );

        Assert.That(configuration.Section<TransportConfig>("transport"), Is.InstanceOf<BrokerConfig>());
    }

    [Test]
    public void The_type_comes_before_what_it_decides()
    {
        var configuration = Accept(
            "{}",
            ("ESB__TRANSPORT__PREFIX", "mine"),
            ("ESB__TRANSPORT__URL", "amqp://b"),
            ("ESB__TRANSPORT__TYPE", "rabbitmq")
        );

        Assert.That(
            configuration.Section<TransportConfig>("transport"),
            Is.InstanceOf<BrokerConfig>().With.Property("Prefix").EqualTo("mine")
        );
    }

    [Test]
    [TestCase("ESB__ENDPOINTS__ORDERS_DB__POLSIZE", "there is no POLSIZE in endpoints.orders-db; did you mean \"poolSize\"?")]
    [TestCase("ESB__ENDPOINTS__ORDERSDB__POOLSIZE", "there is no ORDERSDB in endpoints; did you mean \"orders-db\"?")]
    [TestCase("ESB__ENDPOINTZ__ORDERS_DB__POOLSIZE", "there is no ENDPOINTZ in the configuration; did you mean \"endpoints\"?")]
    [TestCase("ESB__ENDPOINTS__ORDERS_DB__POOLSIZE__MORE", "there is no MORE in endpoints.orders-db.poolSize")]
    [TestCase("ESB__PROCESSES__RECEIVE__9__PUBLISH", "there is no 9 in processes.receive")]
    [TestCase("ESB__PROCESSES__RECEIVE__HAND_ONN__PUBLISH", "there is no HAND_ONN in processes.receive; did you mean \"hand-on\"?")]
    [TestCase("ESB__", "there is no  in the configuration")]
    public void A_variable_that_fits_nothing_is_refused_with_the_nearest_name(string name, string expected)
    {
        var error = RefuseOnce(Orders, (name, "never shown"));

        Assert.That((error.Code, error.Path, error.Value), Is.EqualTo(("ESB-CFG-UNKNOWN", $"environment variable {name}", (string?)null)));
        Assert.That(error.Expected, Is.EqualTo($"fits nothing: {expected}"));
    }

    [Test]
    public void A_variable_for_what_is_not_built_yet_says_so() =>
        Assert.That(RefuseOnce(Orders, ("ESB__POLICIES", "{}")).Code, Is.EqualTo("ESB-CFG-UNAVAILABLE"));

    [Test]
    public void Two_variables_of_the_same_meaning_are_refused() =>
        Assert.That(RefuseOnce(Orders, ("ESB__NAME", "a"), ("esb__name", "b")).Code, Is.EqualTo("ESB-CFG-DUPNAME"));

    [Test]
    public void A_bad_value_is_refused_with_the_variable_that_brought_it()
    {
        var error = RefuseOnce(Orders, ("ESB__ENDPOINTS__ORDERS_DB__POOLSIZE", "many"));

        Assert.That(
            error.ToString(),
            Is.EqualTo(
                "ESB-CFG-TYPE endpoints.orders-db.poolSize = \"many\": expected integer 1..1000, got text (environment variable "
                    + "ESB__ENDPOINTS__ORDERS_DB__POOLSIZE)"
            )
        );
    }

    [Test]
    [TestCase(
        """{ "endpoints": { "a": { "type": "file-outbound", "folder": "x", "retry": [1] } } }""",
        "ESB__ENDPOINTS__A__RETRY__IMMEDIATE"
    )]
    [TestCase("""{ "endpoints": { "a": 5 } }""", "ESB__ENDPOINTS__A__TYPE")]
    [TestCase("""{ "endpoints": 5 }""", "ESB__ENDPOINTS__A__TYPE")]
    [TestCase("""{ "processes": { "p": { "a": 1 } } }""", "ESB__PROCESSES__P__0__PUBLISH")]
    public void A_variable_into_something_of_the_wrong_form_is_an_error_and_not_an_exception(string json, string name) =>
        Assert.That(Refuse(json, (name, "1")), Is.Not.Empty);

    [Test]
    public void Other_variables_are_not_looked_at() => Accept(Orders, ("ESB_KEY", "x"), ("PATH", "/bin"), ("ESBX__A", "b"));

    private static OutboundEndpointConfig OrdersDb(EsbConfiguration configuration) =>
        (OutboundEndpointConfig)configuration.Named<EndpointConfig>("endpoints")["orders-db"];
}
