module acme.example/no_crumbs

go 1.21
