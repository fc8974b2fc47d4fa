using Esb.Tests.Content.Codecs;

namespace Esb.IntegrationTests.EndToEnd.Content;

/// <summary>The configuration of the tests of content: an inbound endpoint for each subject.</summary>
[System.Runtime.Versioning.UnsupportedOSPlatform("windows")]
internal static class ContentConfiguration
{
    public static string Of(string sections, Uri backend, SecureKeyFiles keys) =>
        $$$"""
            {
              "name": "content",
              {{{sections}}}
              "connections": { "shop": { "provider": "npgsql", "connection": "${env:SHOP}" } },
              "lookups": { "sizes": { "connection": "shop", "query": "select label from sizes where code = @key", "cache": "5m" } },
              "maps": { "sizes": "sizes.js", "label": "label.liquid" },
              "parties": { "acme": { "certificates": [{ "thumbprint": "{{{keys.Thumbprints["partner"]}}}" }], "publish": ["content.#"] } },
              "topics": { "content": {}, "partners": {}, "prices": { "persistent": false } },
              "endpoints": {
                "crm": { "type": "http-outbound", "url": "{{{backend}}}", "method": "GET", "path": "/crm/{property.customer}" },
                "dhl": { "type": "http-outbound", "url": "{{{backend}}}dhl", "subscribe": ["prices.dhl"] },
                "ups": { "type": "http-outbound", "url": "{{{backend}}}ups", "subscribe": ["prices.ups"] },
                "lost": { "type": "http-outbound", "url": "{{{backend}}}lost" },
                "slow": { "type": "http-outbound", "url": "{{{backend}}}slow" },
                "throttled": { "type": "http-outbound", "url": "{{{backend}}}throttled" },
                "dropped": { "type": "file-outbound", "subscribe": ["content.dropped"], "folder": "dropped", "fileName": "{message.id}.json" },
                "a": { "type": "file-outbound", "subscribe": ["partners.a"], "folder": "partner-a", "fileName": "{message.id}.json" },
                "b": { "type": "file-outbound", "subscribe": ["partners.b"], "folder": "partner-b", "fileName": "{message.id}.json" },
                "unique": { "type": "file-outbound", "subscribe": ["content.unique"], "folder": "unique", "fileName": "{message.id}.json" },
                "all-files": { "type": "file-outbound", "subscribe": ["content.all"], "folder": "all", "fileName": "{message.id}.json" },
                "all": { "type": "http-inbound", "path": "/all", "process": "all" },
                "once-files": { "type": "file-outbound", "subscribe": ["content.once"], "folder": "once", "fileName": "{message.id}.json" },
                "once": { "type": "http-inbound", "path": "/once", "publish": "content.once", "dedupe": { "key": { "jsonpath": "$.invoice" }, "for": "1h" } },
                "once-answer": { "type": "http-inbound", "path": "/once-answer", "mode": "request-reply", "process": "once-answer", "dedupe": { "key": { "jsonpath": "$.invoice" }, "onDuplicate": "refuse" } },
                "once-drop": { "type": "file-inbound", "folder": "once-drop", "pattern": "*.json", "interval": "100ms", "process": "once-drop", "dedupe": { "key": { "jsonpath": "$.invoice" } } },
                "numbered-files": { "type": "file-outbound", "subscribe": ["content.numbered"], "folder": "numbered", "fileName": "{sequence:0000}.json", "processingThreads": 4, "poolSize": 4 },
                "numbered": { "type": "http-inbound", "path": "/numbered", "publish": "content.numbered" },
                "parts": { "type": "file-outbound", "subscribe": ["content.part"], "folder": "parts", "fileName": "{header.x-part}" },

                {{{Inbound(
                "enrich",
                "enrich-topic",
                "scatter",
                "scatter-any",
                "scatter-topics",
                "throttle",
                "throttle-none",
                "size",
                "sizes",
                "label",
                "state",
                "number",
                "mime",
                "smime",
                "smime-sign",
                "pgp",
                "pgp-make"
            )}}},
                "recipients": { "type": "http-inbound", "path": "/recipients", "process": "recipients", "headers": ["x-to"] },
                "dedupe": { "type": "http-inbound", "path": "/dedupe", "process": "dedupe" },
                "dedupe-refuse": { "type": "http-inbound", "path": "/dedupe-refuse", "process": "dedupe-refuse" }
              },
              "processes": {
                "enrich": [
                  { "set": { "properties": { "customer": { "jsonpath": "$.customer" } } } },
                  { "enrich": { "call": "crm", "into": { "jsonpath": "$.crm" }, "cache": { "key": { "property": "customer" }, "for": "5m" }, "otherwise": { "name": "unknown" } } }
                ],
                "enrich-topic": [{ "enrich": { "request": "prices.dhl", "into": { "jsonpath": "$.offer" } } }],
                "scatter": [{ "scatter": { "endpoints": ["dhl", "ups"], "timeout": "20s", "gather": "array" } }],
                "scatter-any": [{ "scatter": { "endpoints": ["slow", "lost", "ups"], "timeout": "20s", "require": "any", "gather": "first" } }],
                "scatter-topics": [{ "scatter": { "subjects": ["prices.dhl", "prices.ups"], "timeout": "20s" } }],
                "throttle": [{ "throttle": { "rate": 5, "per": "1s" } }, { "call": "throttled" }],
                "throttle-none": [{ "throttle": { "rate": 1, "per": "1h", "timeout": "0s" } }, { "respond": { "status": 200, "body": "passed" } }],
                "size": [
                  { "set": { "properties": { "label": { "lookup": "sizes", "key": { "jsonpath": "$.size" }, "column": "label", "otherwise": "none" } } } },
                  { "set": { "body": { "property": "label" } } }
                ],
                "sizes": [{ "transform": "sizes" }],
                "label": [{ "transform": "label" }],
                "state": [
                  { "set": { "properties": { "before": { "state": "since" } } } },
                  { "set": { "state": { "since": { "jsonpath": "$.next" } } } },
                  { "choose": { "when": [{ "if": { "jsonpath": "$.bad" }, "steps": [{ "fail": "not today" }] }] } },
                  { "set": { "body": { "template": "[{property.before}]" } } }
                ],
                "once-answer": [
                  { "choose": { "when": [{ "if": { "jsonpath": "$.bad" }, "steps": [{ "fail": "not today" }] }] } },
                  { "set": { "properties": { "seen": { "state": "seen" } }, "state": { "seen": { "jsonpath": "$.invoice" } } } },
                  { "set": { "body": { "template": "after [{property.seen}]" } } }
                ],
                "once-drop": [{ "publish": "content.dropped" }],
                "number": [{ "set": { "body": { "template": "number {sequence}" } } }],
                "recipients": [{ "recipients": { "to": { "header": "x-to" }, "allow": ["partners.*"] } }],
                "dedupe": [{ "id": "once", "dedupe": { "key": { "jsonpath": "$.invoice" }, "for": "1h" } }, { "publish": "content.unique" }],
                "dedupe-refuse": [
                  { "id": "once", "dedupe": { "key": { "jsonpath": "$.invoice" }, "for": "1h", "onDuplicate": "refuse" } },
                  { "choose": { "when": [{ "if": { "jsonpath": "$.bad" }, "steps": [{ "fail": "not today" }] }] } },
                  { "publish": "content.refused" }
                ],
                "all": [
                  { "id": "all", "split": { "jsonpath": "$[*]", "mode": "all-or-nothing", "steps": [
                    { "choose": { "when": [{ "if": { "jsonpath": "$.bad" }, "steps": [{ "fail": "not this one" }] }] } },
                    { "publish": "content.all" }
                  ] } }
                ],
                "mime": [
                  { "decode": "mime" },
                  { "split": { "entries": true, "steps": [{ "set": { "headers": { "x-part": { "property": "split.name" } } } }, { "publish": "content.part" }] } },
                  { "encode": "mime" }
                ],
                "smime": [
                  { "decode": { "codec": "smime", "key": "${file:{{{keys.PathOf("us.key")}}}}", "trust": "{{{keys.PathOf(
                "ca.pem"
            )}}}", "require": "both" } },
                  { "set": { "properties": { "body": { "message": "body" } } } },
                  { "set": { "body": { "template": "{message.party}: {property.body}" } } }
                ],
                "smime-sign": [{ "encode": { "codec": "smime", "sign": "${file:{{{keys.PathOf("us.key")}}}}", "encrypt": "{{{keys.PathOf(
                "partner.pem"
            )}}}", "headers": true } }],
                "pgp": [{ "decode": { "codec": "pgp", "key": "${file:{{{keys.PathOf("us.sec")}}}}", "passphrase": "${file:{{{keys.PathOf(
                "pass.txt"
            )}}}}", "trust": "{{{keys.PathOf("partner.pub")}}}" } }],
                "pgp-make": [{ "encode": { "codec": "pgp", "sign": "${file:{{{keys.PathOf(
                "us.sec"
            )}}}}", "passphrase": "${file:{{{keys.PathOf("pass.txt")}}}}", "encrypt": "{{{keys.PathOf("partner.pub")}}}" } }]
              }
            }
            """;

    private static string Inbound(params string[] names) =>
        string.Join(
            ",\n",
            names.Select(name =>
                $$"""
                    "{{name}}": { "type": "http-inbound", "path": "/{{name}}", "mode": "request-reply", "process": "{{name}}", "timeout": "30s" }
                    """
            )
        );
}
